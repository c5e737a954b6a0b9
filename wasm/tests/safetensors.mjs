// Makes valid and invalid safetensors files for the tests.

/**
 * Returns a safetensors file. Each entry of `tensors` is [name, shape, Float32Array or Uint8Array, dtype]. `change`
 * gets the header as an object and returns the header to write, which may be invalid.
 */
export const safetensors = (tensors, { change = (header) => header, pad = 8 } = {}) => {
  const header = { __metadata__: { format: "pt" } };
  let bytes = 0;
  for (const [name, shape, data, dtype = "F32"] of tensors) {
    header[name] = { dtype, shape, data_offsets: [bytes, bytes + data.byteLength] };
    bytes += data.byteLength;
  }
  let text = JSON.stringify(change(header));
  text += " ".repeat((pad - (text.length % pad)) % pad);
  const file = new Uint8Array(8 + text.length + bytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(new TextEncoder().encode(text), 8);
  let at = 8 + text.length;
  for (const [, , data] of tensors) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return file;
};

/**
 * Returns a stream of `bytes` in pieces of `piece` bytes. Before each piece, the stream awaits the promise that `wait`
 * returns.
 */
export const streamOf = (bytes, piece, wait = () => {}) => {
  let at = 0;
  return new ReadableStream({
    async pull(controller) {
      await wait(at);
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, (at += piece)));
    },
  });
};

/** Returns a safetensors file whose header is the text `header`. */
export const fileOf = (header, data = new Uint8Array()) => {
  const text = new TextEncoder().encode(header);
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
};

/** Returns the header and the data of a safetensors file. */
export const headerOf = (file) => {
  const end = 8 + Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  return { header: JSON.parse(new TextDecoder().decode(file.subarray(8, end))), data: file.subarray(end) };
};
