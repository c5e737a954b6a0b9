// The calls of a consumer that spots keywords: loads the model, computes the logits of a sound, and takes the first
// samples of the microphone. test_consumers.mjs compares the logits with those of the scalar variant in Node.
import { KeywordSpotter, Microphone } from "ladon/keywords";

const chirp = Float32Array.from({ length: 16000 }, (_, i) => 0.5 * Math.sin(i * i * 1e-4));

/** Returns the logits of a sound, and the variant of the module that computed them. */
export const spot = async (weights) => {
  const spotter = await KeywordSpotter.load({ weights });
  const logits = Array.from(spotter.spot(chirp).logits);
  spotter.free();
  return { variant: spotter.kernel.variant, logits };
};

/** Opens the microphone. Returns the number of samples in its first array, or the text of the error. */
export const hear = async () => {
  try {
    let microphone;
    const count = await new Promise((resolve, reject) => {
      Microphone.open({ samples: (samples) => resolve(samples.length) }).then((one) => (microphone = one), reject);
    });
    await microphone?.stop();
    return count;
  } catch (error) {
    return String(error);
  }
};
