// Reads the JSON files of a model.
import { existsSync, readFileSync } from "node:fs";

/** Returns the contents of a JSON file, or {} if there is no such file. */
export const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {});
