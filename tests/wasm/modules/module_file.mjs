// Reads a WebAssembly file without an engine: imports, exports, custom sections, and the number of instructions of each
// kind. The reader knows only the constructs that these modules use, and throws on any other construct.

class Reader {
  constructor(bytes, at = 0, end = bytes.length) {
    Object.assign(this, {bytes, at, end});
  }
  byte() {
    if (this.at >= this.end) throw new Error('the module ends too early');
    return this.bytes[this.at++];
  }
  // Reads a number in LEB128. The result is correct only for unsigned numbers. For a signed number, only the position
  // behind the number is correct.
  number() {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  take(count) {
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
  text() {
    return new TextDecoder().decode(this.take(this.number()));
  }
  list(item) {
    return Array.from({length: this.number()}, item);
  }
}

const between = (first, last) => (code) => code >= first && code <= last;
const numbers = (count) => (reader) => { for (let i = 0; i < count; ++i) reader.number(); };
const bytes = (count) => (reader) => { reader.take(count); };
// These tables say how many operand bytes follow an instruction. Each row has a group of instruction codes, and a
// function that skips the operands behind such a code. The comments name the operands or the instructions.
const plain = [
  [between(0x02, 0x04), numbers(1)],  // the type of a block
  [between(0x0c, 0x0d), numbers(1)],
  [between(0x0e, 0x0e), (reader) => { reader.list(() => reader.number()); reader.number(); }],
  [between(0x10, 0x10), numbers(1)],
  [between(0x20, 0x24), numbers(1)],
  [between(0x28, 0x3e), numbers(2)],  // alignment and offset
  [between(0x3f, 0x42), numbers(1)],
  [between(0x43, 0x43), bytes(4)],
  [between(0x44, 0x44), bytes(8)],
  [(code) => code <= 0xc4 && ![0x06, 0x07, 0x08, 0x09, 0x0a, 0x11, 0x1c, 0x25, 0x26].includes(code), bytes(0)],
];
const miscellaneous = [
  [between(0, 7), bytes(0)],  // float to integer, saturating
  [between(10, 10), bytes(2)],  // memory.copy
  [between(11, 11), bytes(1)],  // memory.fill
];
const vector = [
  [between(0, 11), numbers(2)],
  [between(12, 13), bytes(16)],  // a constant, a shuffle
  [between(21, 34), bytes(1)],   // a lane
  [between(84, 91), (reader) => { numbers(2)(reader); reader.byte(); }],
  [between(92, 93), numbers(2)],
  [between(14, 0x113), bytes(0)],
];

function skipOperands(table, code, reader, what) {
  const entry = table.find(([matches]) => matches(code));
  if (!entry) throw new Error(`an unknown ${what} 0x${code.toString(16)} at ${reader.at}`);
  entry[1](reader);
}

function countInstructions(reader, counts) {
  while (reader.at < reader.end) {
    const code = reader.byte();
    if (code === 0xfd) {
      const number = reader.number();
      ++counts[number < 0x100 ? 'vector' : 'relaxed'];
      if (number === 0x112 || number === 0x113) ++counts.relaxedInteger;
      skipOperands(vector, number, reader, 'vector instruction');
    } else if (code === 0xfc) {
      ++counts.newer;
      skipOperands(miscellaneous, reader.number(), reader, 'instruction 0xfc');
    } else {
      if (code >= 0xc0) ++counts.newer;  // sign extension
      ++counts.plain;
      skipOperands(plain, code, reader, 'instruction');
    }
  }
}

const kinds = ['function', 'table', 'memory', 'global'];

// Returns {imports, exports: ['function run', ...], sections: Map of name to bytes, memories, counts}. `counts` holds
// the number of instructions of each kind:
//   plain            instructions with a code of one byte
//   newer            sign extensions and other scalar instructions that the first version of WebAssembly (2017) lacks
//   vector           instructions of SIMD
//   relaxed          instructions of relaxed SIMD
//   relaxedInteger   relaxed dot products of bytes; `relaxed` also counts them
export function readModule(file) {
  const reader = new Reader(file);
  if ([...reader.take(8)].join() !== '0,97,115,109,1,0,0,0') throw new Error('this is not a WebAssembly module');
  const found = {imports: 0, exports: [], sections: new Map(), memories: [],
                 counts: {plain: 0, newer: 0, vector: 0, relaxed: 0, relaxedInteger: 0}};
  while (reader.at < reader.end) {
    const id = reader.byte();
    const size = reader.number();
    const section = new Reader(file, reader.at, reader.at + size);
    reader.at += size;
    if (id === 0) {
      const name = section.text();
      found.sections.set(name, file.subarray(section.at, section.end));
    } else if (id === 2) {
      found.imports = section.number();
    } else if (id === 5) {
      found.memories = section.list(() => {
        const limited = section.byte() !== 0;
        const pages = section.number();
        return {pages, most: limited ? section.number() : Infinity};
      });
    } else if (id === 7) {
      found.exports = section.list(() => {
        const name = section.text();
        const kind = kinds[section.byte()];
        section.number();
        return `${kind} ${name}`;
      });
    } else if (id === 10) {
      section.list(() => {
        const length = section.number();
        const body = new Reader(file, section.at, section.at + length);
        section.at += length;
        body.list(() => { body.number(); body.byte(); });  // locals
        countInstructions(body, found.counts);
      });
    }
  }
  return found;
}

export function descriptionOf(found) {
  return JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(found.sections.get('ladon')));
}
