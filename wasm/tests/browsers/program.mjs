// Starts programs for tests, and limits every wait for them.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const limit = 60_000; // milliseconds

/** Returns what `promise` gives. Rejects after `milliseconds`, so that a browser that hangs does not hang the tests. */
export async function within(promise, what, milliseconds = limit) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer in ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Starts a program with a new folder as its home. Returns the folder; `said`, which waits until the program has printed
 * a text that matches a pattern, and returns the match; and `stop`, which ends the program and all its children.
 */
export function startProgram(command, argsOf, environment = {}) {
  const home = mkdtempSync(join(tmpdir(), "ladon-browser-"));
  const env = { ...process.env, HOME: home, TMPDIR: home, ...environment };
  const child = spawn(command, argsOf(home), { detached: true, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const listeners = new Set();
  const tell = (data) => {
    text += data;
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", tell);
  child.stderr.on("data", tell);
  const ended = new Promise((resolve) => child.once("close", resolve));
  const failed = new Promise((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}: ${text.slice(-1000)}`)));
  });
  failed.catch(() => undefined);
  const said = (pattern) => {
    const found = new Promise((resolve) => {
      const look = () => {
        const match = pattern.exec(text);
        if (match) listeners.delete(look), resolve(match);
      };
      listeners.add(look);
      look();
    });
    return within(Promise.race([found, failed]), `${command} prints ${pattern}`);
  };
  const stop = async () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // the program has already ended
    }
    await within(ended, `${command} ends`, 10_000).catch(() => undefined);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { home, said, failed, stop };
}
