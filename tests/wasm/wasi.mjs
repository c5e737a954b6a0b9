// Implements WASI (preview 1) for test programs, in Node or in a browser's worker. A program may write only to the
// folder for temporary files, which exists only in memory. The function `run` takes functions that read files of this
// machine (`files`), and a function that receives the output of the program (`write`):
//   files.status(path)   returns {folder, size}, or undefined if the path does not exist
//   files.read(path)     returns a Uint8Array
//   files.list(path)     returns the names of the entries of a folder
//   write(fd, bytes)     receives bytes of standard output (fd 1) or standard error (fd 2)
const error = {badf: 8, exist: 20, inval: 28, isdir: 31, noent: 44, nosys: 52, notdir: 54, notempty: 55, rofs: 69};
const type = {device: 2, folder: 3, file: 4};
const temporary = '/in-memory';

class Exit {
  constructor(code) {
    this.code = code;
  }
}

const normal = (path) => {
  const parts = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return '/' + parts.join('/');
};
const folderOf = (path) => normal(path + '/..');

// The file system that a program sees: the files of this machine, and the files that programs write in memory.
class FileSystem {
  constructor(files) {
    this.files = files;
    this.written = new Map([[temporary, {folder: true}]]);
  }
  inMemory(path) {
    return path === temporary || path.startsWith(temporary + '/');
  }
  status(path) {
    const own = this.written.get(path);
    if (own) return {folder: own.folder, size: own.folder ? 0 : own.bytes.length};
    return this.inMemory(path) ? undefined : this.files.status(path);
  }
  list(path) {
    if (!this.inMemory(path)) return this.files.list(path);
    return [...this.written.keys()].filter((other) => other !== path && folderOf(other) === path)
      .map((other) => other.slice(path.length + 1));
  }
  // Returns {bytes} for a file. For a file of this machine, `bytes` is a getter that reads the file at the first
  // access.
  open(path) {
    const own = this.written.get(path);
    if (own) return own;
    const {files} = this;
    return {
      get bytes() {
        const bytes = files.read(path);
        Object.defineProperty(this, 'bytes', {value: bytes});
        return bytes;
      },
    };
  }
}

// Runs the program to its end. Returns its exit status. Throws the error if the program traps.
export async function run(module, {args, environment, files, write}) {
  const system = new FileSystem(files);
  const open = new Map([0, 1, 2].map((fd) => [fd, {device: true}]));
  open.set(3, {path: '/', folder: true});
  let memory;
  const view = () => new DataView(memory.buffer);
  const bytes = (at, size) => new Uint8Array(memory.buffer, at, size);
  const textAt = (at, size) => new TextDecoder().decode(bytes(at, size).slice());
  const pathAt = (at, size) => normal(textAt(at, size));

  const strings = (list) => {
    const encoded = list.map((text) => new TextEncoder().encode(text + '\0'));
    const sizes = (count, size) => {
      view().setUint32(count, encoded.length, true);
      view().setUint32(size, encoded.reduce((sum, text) => sum + text.length, 0), true);
      return 0;
    };
    const get = (pointers, at) => {
      for (const text of encoded) {
        view().setUint32(pointers, at, true);
        bytes(at, text.length).set(text);
        pointers += 4;
        at += text.length;
      }
      return 0;
    };
    return [sizes, get];
  };
  const [args_sizes_get, args_get] = strings(args);
  const variables = Object.entries({...environment, TMPDIR: temporary});
  const [environ_sizes_get, environ_get] = strings(variables.map((entry) => entry.join('=')));

  const vectors = (at, count) =>
    Array.from({length: count}, (_, i) => [view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)]);
  const readAt = (file, position, at, count) => {
    let done = 0;
    for (const [to, size] of vectors(at, count)) {
      const part = file.content.bytes.subarray(position + done, position + done + size);
      bytes(to, part.length).set(part);
      done += part.length;
      if (part.length < size) break;
    }
    return done;
  };
  const append = (file, part) => {
    const old = file.content.bytes;
    const position = file.append ? old.length : file.position;
    if (position + part.length > old.length) {
      file.content.bytes = new Uint8Array(position + part.length);
      file.content.bytes.set(old);
    }
    file.content.bytes.set(part, position);
    file.position = position + part.length;
  };
  const putStatus = (at, kind, size) => {
    bytes(at, 64).fill(0);
    view().setUint8(at + 16, kind);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(size), true);
    return 0;
  };

  const calls = {
    args_sizes_get, args_get, environ_sizes_get, environ_get,
    proc_exit(code) {
      throw new Exit(code);
    },
    random_get(at, size) {
      const random = new Uint8Array(size);
      for (let i = 0; i < size; i += 65536) crypto.getRandomValues(random.subarray(i, i + 65536));
      bytes(at, size).set(random);
      return 0;
    },
    clock_res_get(clock, at) {
      view().setBigUint64(at, 1000n, true);
      return 0;
    },
    clock_time_get(clock, precision, at) {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true);
      return 0;
    },
    fd_close(fd) {
      return open.delete(fd) ? 0 : error.badf;
    },
    fd_fdstat_get(fd, at) {
      const file = open.get(fd);
      if (!file) return error.badf;
      bytes(at, 24).fill(0);
      view().setUint8(at, file.device ? type.device : file.folder ? type.folder : type.file);
      return 0;
    },
    fd_filestat_get(fd, at) {
      const file = open.get(fd);
      if (!file) return error.badf;
      if (file.device) return putStatus(at, type.device, 0);
      return putStatus(at, file.folder ? type.folder : type.file, file.folder ? 0 : file.content.bytes.length);
    },
    fd_seek(fd, offset, whence, at) {
      const file = open.get(fd);
      if (!file?.content) return error.inval;
      const from = whence === 0 ? 0 : whence === 1 ? file.position : file.content.bytes.length;
      file.position = from + Number(offset);
      view().setBigUint64(at, BigInt(file.position), true);
      return 0;
    },
    fd_read(fd, at, count, done) {
      const file = open.get(fd);
      if (!file) return error.badf;
      if (file.folder) return error.isdir;
      const size = file.device ? 0 : readAt(file, file.position, at, count);
      if (file.content) file.position += size;
      view().setUint32(done, size, true);
      return 0;
    },
    fd_pread(fd, at, count, offset, done) {
      const file = open.get(fd);
      if (!file?.content) return error.badf;
      view().setUint32(done, readAt(file, Number(offset), at, count), true);
      return 0;
    },
    fd_write(fd, at, count, done) {
      const file = open.get(fd);
      if (!file || file.folder || (file.content && !file.writable)) return error.badf;
      let size = 0;
      for (const [from, length] of vectors(at, count)) {
        const part = bytes(from, length).slice();
        if (file.device) write(fd, part);
        else append(file, part);
        size += length;
      }
      view().setUint32(done, size, true);
      return 0;
    },
    // Writes the entries of the folder to the buffer, from entry number `cookie` on, until the buffer is full. The last
    // entry may be truncated.
    fd_readdir(fd, at, size, cookie, used) {
      const folder = open.get(fd);
      if (!folder?.folder) return error.notdir;
      folder.names ??= system.list(folder.path);
      let done = 0;
      for (let i = Number(cookie); i < folder.names.length && done < size; ++i) {
        const name = new TextEncoder().encode(folder.names[i]);
        const entry = new Uint8Array(24 + name.length);
        const fields = new DataView(entry.buffer);
        fields.setBigUint64(0, BigInt(i + 1), true);
        fields.setUint32(16, name.length, true);
        const status = system.status(normal(folder.path + '/' + folder.names[i]));
        fields.setUint8(20, status?.folder ? type.folder : type.file);
        entry.set(name, 24);
        const part = entry.subarray(0, size - done);
        bytes(at + done, part.length).set(part);
        done += part.length;
      }
      view().setUint32(used, done, true);
      return 0;
    },
    path_filestat_get(fd, flags, at, size, to) {
      const status = system.status(pathAt(at, size));
      return status ? putStatus(to, status.folder ? type.folder : type.file, status.size) : error.noent;
    },
    path_open(fd, follow, at, size, how, rights, inherited, flags, to) {
      const path = pathAt(at, size);
      const status = system.status(path);
      const [create, folderOnly, exclusive, truncate] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
      const writable = (rights & 64n) !== 0n;
      if (!status && !create) return error.noent;
      if (status && create && exclusive) return error.exist;
      if (folderOnly && !status?.folder) return error.notdir;
      if (status?.folder && writable) return error.isdir;
      if (writable && !system.inMemory(path)) return error.rofs;
      if (!status && !system.status(folderOf(path))?.folder) return error.noent;
      if (!status || (truncate && writable)) system.written.set(path, {bytes: new Uint8Array()});
      let number = 4;
      while (open.has(number)) ++number;
      open.set(number, status?.folder
        ? {path, folder: true}
        : {path, content: system.open(path), position: 0, writable, append: (flags & 1) !== 0});
      view().setUint32(to, number, true);
      return 0;
    },
    path_create_directory(fd, at, size) {
      const path = pathAt(at, size);
      if (system.status(path)) return error.exist;
      if (!system.inMemory(path)) return error.rofs;
      if (!system.status(folderOf(path))) return error.noent;
      system.written.set(path, {folder: true});
      return 0;
    },
    path_remove_directory(fd, at, size) {
      const path = pathAt(at, size);
      const status = system.status(path);
      if (!status) return error.noent;
      if (!status.folder) return error.notdir;
      if (!system.inMemory(path)) return error.rofs;
      if (system.list(path).length > 0) return error.notempty;
      system.written.delete(path);
      return 0;
    },
    path_unlink_file(fd, at, size) {
      const path = pathAt(at, size);
      const status = system.status(path);
      if (!status) return error.noent;
      if (status.folder) return error.isdir;
      return system.written.delete(path) ? 0 : error.rofs;
    },
  };

  // This file does not implement all functions that programs import. A missing function throws an error only if the
  // program calls it.
  const imports = {};
  const emscripten = {emscripten_notify_memory_growth() {}}; // empty: the host takes memory.buffer anew for each call
  for (const {module: from, name, kind} of WebAssembly.Module.imports(module)) {
    if (kind !== 'function') throw new Error(`the program imports ${from}.${name}, a ${kind}`);
    imports[from] ??= {};
    imports[from][name] = {wasi_snapshot_preview1: calls, env: emscripten}[from]?.[name] ?? (() => {
      throw new Error(`the program calls ${from}.${name}, which this host does not provide`);
    });
  }
  const {exports} = await WebAssembly.instantiate(module, imports);
  memory = exports.memory;
  try {
    exports._start();
    return 0;
  } catch (problem) {
    if (problem instanceof Exit) return problem.code;
    throw problem;
  }
}
