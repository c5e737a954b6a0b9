import { writeFileSync } from "node:fs";

/** Writes a safetensors file. `tensors` are pairs of a name and { shape, values }, whose values are a Float32Array. */
export function writeSafetensors(path, tensors) {
  let end = 0;
  const entries = tensors.map(([name, { shape, values }]) => {
    const begin = end;
    end += values.byteLength;
    return [name, { dtype: "F32", shape, data_offsets: [begin, end] }];
  });
  const text = JSON.stringify(Object.fromEntries(entries));
  const header = text + " ".repeat((8 - (text.length % 8)) % 8);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  const parts = tensors.map(([, { values }]) => Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  writeFileSync(path, Buffer.concat([size, Buffer.from(header), ...parts]));
}
