// Where the files of KWT-1 and the answers of LiteRT are. LADON_KEYWORDS_DIR names their folder.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder =
  process.env.LADON_KEYWORDS_DIR ?? fileURLToPath(new URL("../../../shared/models/kwt1", import.meta.url));
export const weights = join(folder, "kwt1.safetensors");
/** The labels, and for each recording the features [98][40] and the logits [12]. */
export const answers = join(folder, "expected.json");

const missing = [weights, answers].find((file) => !existsSync(file));
/** For node:test: false, or why a test is skipped. */
export const skipWithoutModel = missing ? `no ${missing}` : false;
