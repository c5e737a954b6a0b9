// Converts sound files to the samples that the model needs.
import { KeywordSpotter } from "../src/keywords.js";

const mostSeconds = 120;
const { sampleRate } = KeywordSpotter;

/** Returns the mean of the channels, at 16 kHz. The browser decodes and resamples. Throws if the file has no sound. */
export async function decodeSound(content: Blob, name: string): Promise<Float32Array> {
  const context = new OfflineAudioContext(1, 1, sampleRate);
  const sound = await context.decodeAudioData(await content.arrayBuffer()).catch(() => {
    throw new Error(`${name} is not a sound that this browser can read`);
  });
  if (sound.duration > mostSeconds) {
    throw new Error(`${name} has ${Math.round(sound.duration)} seconds; this page takes up to ${mostSeconds}`);
  }
  const channels = Array.from({ length: sound.numberOfChannels }, (_, channel) => sound.getChannelData(channel));
  return channels[0]!.map((_, i) => channels.reduce((sum, channel) => sum + channel[i]!, 0) / channels.length);
}
