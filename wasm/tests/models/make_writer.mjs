// node make_writer.mjs FROM FOLDER: writes a copy of a model without a head, whose head is then the table of embeddings.
// Its settings name tokens that never follow, and tokens that do not follow the prompt.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [from, folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
copyFileSync(join(from, "model.safetensors"), join(folder, "model.safetensors"));
const config = JSON.parse(readFileSync(join(from, "config.json"), "utf8"));
config.architectures = config.architectures.map((name) => name.replace(/Model$/, "ForConditionalGeneration"));
writeFileSync(join(folder, "config.json"), JSON.stringify(config));
const settings = { decoder_start_token_id: 0, suppress_tokens: [0], begin_suppress_tokens: [14] };
writeFileSync(join(folder, "generation_config.json"), JSON.stringify(settings));
