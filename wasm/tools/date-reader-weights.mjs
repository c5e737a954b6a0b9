// node date-reader-weights.mjs WEIGHTS.HPP OUT.SAFETENSORS: converts the date reader's weights from C++ arrays into a
// safetensors file. The tensors have the names of the trained PyTorch model, which examples/date_reader/export.py
// converted to C++. The alphabet and the threshold are in the file's __metadata__.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const header = "inline constexpr";

// Returns the PyTorch name of an array: encoder.layers.0.self_attn.in_proj_weight for layer0_in_proj_weight.
function pytorchName(name) {
  if (name === "character") return "character.weight";
  const layer = /^layer(\d+)_(.*)$/.exec(name);
  const place = layer ? `encoder.layers.${layer[1]}.` : "";
  const tensor = (layer ? layer[2] : name.replace("final_norm", "encoder.norm"))
    .replace(/^(in_proj)_/, "self_attn.$1_")
    .replace(/^(out_proj)_/, "self_attn.$1.")
    .replace(/^(linear\d|norm\d|classifier|encoder\.norm)_/, "$1.");
  return place + tensor;
}

function tensorsOf(text) {
  return [...text.matchAll(/inline constexpr float (\w+)\[([^\]]+)\] = \{([^}]*)\}/g)].map(([, name, size, list]) => {
    const shape = size.split("*").map(Number);
    const values = Float32Array.from(list.split(",").slice(0, -1), (literal) => Number.parseFloat(literal));
    const expected = shape.reduce((a, b) => a * b);
    if (values.length !== expected || !values.every(Number.isFinite)) {
      throw new Error(`${name}: expected ${expected} numbers, found ${values.length}`);
    }
    return { name: pytorchName(name), shape, values };
  });
}

function scalar(text, pattern) {
  const found = pattern.exec(text);
  if (!found) throw new Error(`expected ${pattern}`);
  return found[1];
}

export function dateReaderSafetensors(text) {
  const tensors = tensorsOf(text);
  const declared = text.split(`${header} float `).length - 2; // the number of all float constants except sure_enough
  if (tensors.length !== declared) throw new Error(`expected ${declared} tensors, read ${tensors.length}`);
  const entries = {
    __metadata__: {
      alphabet: scalar(text, /alphabet\[\] = "([^"\\]*)"/),
      sure_enough: scalar(text, /sure_enough = ([\d.]+)f/),
    },
  };
  let offset = 0;
  for (const { name, shape, values } of tensors) {
    entries[name] = { dtype: "F32", shape, data_offsets: [offset, (offset += values.byteLength)] };
  }
  let json = JSON.stringify(entries);
  json += " ".repeat((8 - (json.length % 8)) % 8); // the tensors begin at a multiple of 8 bytes
  const file = new Uint8Array(8 + json.length + offset);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(new TextEncoder().encode(json), 8);
  let at = 8 + json.length;
  for (const { values } of tensors) {
    const view = new DataView(file.buffer, at, values.byteLength);
    values.forEach((value, i) => view.setFloat32(4 * i, value, true));
    at += values.byteLength;
  }
  return file;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [source, target] = process.argv.slice(2);
  if (!target) throw new Error("date-reader-weights.mjs WEIGHTS.HPP OUT.SAFETENSORS");
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, dateReaderSafetensors(readFileSync(source, "utf8")));
}
