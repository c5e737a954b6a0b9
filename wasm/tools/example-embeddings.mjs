// Writes demo/example-embeddings.ts: the sentences that the page ranks before it has MiniLM, and their embeddings.
// Needs the package in dist, and MiniLM's files in LADON_MINILM_DIR or ~/.cache/ladon/minilm.
// examples/minilm/fetch_model gets these files.
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SentenceEncoder } from "../dist/minilm.js";

const sentences = [
  "We refund any order within thirty days.",
  "The parcel is on its way and arrives on Tuesday.",
  "Reset your password from the sign-in page.",
  "The museum is closed on Mondays.",
  "Bring the soup to a boil, then let it simmer.",
  "Our office moved to the second floor.",
  "A storm is expected along the coast tonight.",
  "She learned to play the violin as a child.",
  "The battery lasts about ten hours.",
  "Dogs need a walk twice a day.",
];
const questions = [
  "how do I get my money back?",
  "my puppy is restless",
  "I cannot log in",
  "will it be windy at the beach?",
  "what's for dinner?",
];

/**
 * Returns int8 integers in the direction of the embedding. The component of the largest magnitude becomes 127 or -127.
 */
const quantised = (embedding) => {
  const largest = embedding.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return Int8Array.from(embedding, (value) => Math.round((value / largest) * 127));
};

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
const folder = process.env.LADON_MINILM_DIR ?? join(cache, "ladon/minilm");
const place = (name) => pathToFileURL(join(folder, name));
const encoder = await SentenceEncoder.load({ weights: place("model.safetensors"), vocabulary: place("vocab.txt") });
const rows = [...sentences, ...questions].map((text) =>
  Buffer.from(quantised(encoder.embed(text)).buffer).toString("base64"),
);

const list = (texts) => `[\n${texts.map((text) => `  ${JSON.stringify(text)},\n`).join("")}]`;
const text = `// Made by tools/example-embeddings.mjs with MiniLM in float32. Do not edit.

export const sentences: readonly string[] = ${list(sentences)};

export const questions: readonly string[] = ${list(questions)};

/**
 * One string for each text: first the sentences, then the questions. A string has 384 int8 integers, encoded in base64.
 * The integers are a vector in the direction of the text's embedding.
 */
export const directions: readonly string[] = ${list(rows)};
`;
writeFileSync(new URL("../demo/example-embeddings.ts", import.meta.url), text);
