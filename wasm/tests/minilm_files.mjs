// The paths of the files for the tests of MiniLM. `model` is null if the model is absent. `conformance` is null if the
// expected embeddings are absent.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder =
  process.env.LADON_MINILM_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "ladon/minilm");
const weights = join(folder, "model.safetensors");
const vocabulary = join(folder, "vocab.txt");
export const model = existsSync(weights) && existsSync(vocabulary) ? { weights, vocabulary } : null;

const expected = join(
  process.env.LADON_CONFORMANCE_DIR ?? fileURLToPath(new URL("../../../shared/conformance", import.meta.url)),
  "minilm.json",
);
export const conformance = existsSync(expected) ? expected : null;

/** The option `skip` of node:test: false, or the reason why the test is skipped. */
export const skipWithoutModel = model ? false : `no model in ${folder}: examples/minilm/fetch_model gets it`;
export const skipWithoutConformance = skipWithoutModel || (conformance ? false : `no ${expected}`);
