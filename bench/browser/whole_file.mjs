// Writes files so that a reader, or an interrupt, never meets half of one. The C++ programs do the same by
// src/files/replace_file.hpp.
import {randomBytes} from "node:crypto";
import {closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync}
    from "node:fs";
import {dirname, join} from "node:path";

// Writes a temporary file beside the target and returns its path.
function writeTemporary(target, status, text) {
  const temporary = join(dirname(target), `.${randomBytes(12).toString("hex")}.part`);
  const file = openSync(temporary, "wx");
  try {
    writeFileSync(file, text);
    if (status) fchmodSync(file, status.mode & 0o777);
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary);
    throw error;
  } finally {
    closeSync(file);
  }
  return temporary;
}

// The place where the file is or will be. A device or a pipe is `special`.
function placeOf(path) {
  const status = statSync(path, {throwIfNoEntry: false});
  if (status?.isDirectory()) throw new Error("it is a folder");
  return {target: status ? realpathSync(path) : path, status, special: status && !status.isFile()};
}

// Replaces a file, or the file behind a link, by one with this text. A device or a pipe is written directly.
export function replaceFile(path, text) {
  const {target, status, special} = placeOf(path);
  if (special) writeFileSync(path, text);
  else renameSync(writeTemporary(target, status, text), target);
}

// Ends the program with status 2 where a file cannot be written now, so that no measurement is made in vain. The files
// stay as they are. `paths` may contain undefined: no file is asked for.
export function checkReplaceable(...paths) {
  for (const path of paths.filter(path => path !== undefined)) {
    try {
      const {target, status, special} = placeOf(path);
      if (!special) rmSync(writeTemporary(target, status, ""));
    } catch (error) {
      console.error(`bench: ${path} cannot be written: ${error.message}`);
      process.exit(2);
    }
  }
}
