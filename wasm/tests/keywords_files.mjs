// The paths of the files for the tests of KWT-1: the model, the answers that LiteRT computed, and the recordings. All
// of them are in the folder LADON_KEYWORDS_DIR.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.env.LADON_KEYWORDS_DIR ?? fileURLToPath(new URL("../../../shared/models/kwt1", import.meta.url));
export const weights = join(folder, "kwt1.safetensors");
/** The file that kwt1.safetensors is made from. */
export const tflite = join(folder, "non_stream.tflite");
/**
 * The file with the answers of LiteRT: the labels, and for each recording the features [98][40] and the logits [12].
 */
export const answers = join(folder, "expected.json");

const missing = [weights, answers].find((file) => !existsSync(file));
/** The option `skip` of node:test: false, or the reason why the test is skipped. */
export const skipWithoutModel = missing ? `no ${missing}` : false;

export const recordings = ["yes", "no", "noise", "silence"];
export const recordingFile = (name) => join(folder, `${name}_1000ms.wav`);
const missingRecording = recordings.map(recordingFile).find((file) => !existsSync(file));
export const skipWithoutRecordings = skipWithoutModel || (missingRecording ? `no ${missingRecording}` : false);

/** The samples of a recording, floats from -1 to 1. The files have a header of 44 bytes, 16 bits, and one channel. */
export const samplesOf = (name) => {
  const bytes = readFileSync(recordingFile(name));
  if (bytes.toString("latin1", 36, 40) !== "data") throw new Error(`${name}: another header than expected`);
  const count = bytes.readUInt32LE(40) / 2;
  return Float32Array.from({ length: count }, (_, i) => bytes.readInt16LE(44 + 2 * i) / 32768);
};
