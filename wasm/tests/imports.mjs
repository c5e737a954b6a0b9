// Finds the imports between the files of src.
import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("../src/", import.meta.url);
const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)"\.\/([\w/-]+)\.js"/g;

/** Returns a map from each file of src to the files that it imports: statically, on demand, or only for types. */
export const importsOfSource = () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  return new Map(
    files.map((name) => {
      const text = readFileSync(new URL(name, folder), "utf8");
      return [name.replace(".ts", ""), [...text.matchAll(pattern)].map(([, imported]) => imported)];
    }),
  );
};

/** Returns the files of a cycle, with the first file again at the end, or undefined if no cycle exists. */
export const findCycle = (imports) => {
  const done = new Set();
  const visit = (file, path) => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const imported of imports.get(file) ?? []) {
      const cycle = visit(imported, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of imports.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
};

/** Returns the set of all files that an entry imports, directly or through other files. */
export const reachedFrom = (imports, entry) => {
  const reached = new Set([entry]);
  for (const file of reached) for (const imported of imports.get(file) ?? []) reached.add(imported);
  return reached;
};
