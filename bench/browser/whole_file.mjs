// Replaces files so that a reader sees either the complete old or the complete new content, also after an interrupt.
// The C++ programs use src/files/replace_file.hpp for this purpose.
import {randomBytes} from "node:crypto";
import {closeSync, fchmodSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync}
    from "node:fs";
import {dirname, join} from "node:path";

// Writes `text` to a temporary file in the folder of `target`, and returns the path of the temporary file.
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

// Follows symbolic links from `path`. Returns the path and the status of the file, and `special`: true for a device or
// a pipe.
function placeOf(path) {
  const status = statSync(path, {throwIfNoEntry: false});
  if (status?.isDirectory()) throw new Error("it is a folder");
  return {target: status ? realpathSync(path) : path, status, special: status && !status.isFile()};
}

// Replaces the content of a file by `text`. If the path is a symbolic link, replaces the content of the link's target.
// For a device or a pipe, writes to it directly, because it cannot be replaced.
export function replaceFile(path, text) {
  const {target, status, special} = placeOf(path);
  if (special) writeFileSync(path, text);
  else renameSync(writeTemporary(target, status, text), target);
}

// Checks that files can be written, and ends the program with status 2 if a file cannot be written. Programs call this
// function before they measure, so that no measurement is lost. The files do not change. Entries of `paths` that are
// undefined are skipped.
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
