// Measures the processor time of a thread of a browser. Linux only.
import {readdirSync, readFileSync} from "node:fs";

const read = path => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";  // the process or the thread has ended
  }
};

/** Returns the ids of all processes that this process started, directly or through other processes. */
function descendants() {
  const parents = readdirSync("/proc").filter(name => /^\d+$/.test(name)).map(
      id => [id, /^PPid:\s*(\d+)/m.exec(read(`/proc/${id}/status`))?.[1]]);
  const found = new Set([`${process.pid}`]);
  for (let size = 0; size < found.size;) {
    size = found.size;
    for (const [id, parent] of parents) if (found.has(parent)) found.add(id);
  }
  return [...found];
}

/** Returns a function that returns the seconds for which the worker threads with this name have computed. */
export function threadClock(name) {
  const threads = descendants().flatMap(id => {
    try {
      return readdirSync(`/proc/${id}/task`).map(task => `/proc/${id}/task/${task}`);
    } catch {
      return [];
    }
  }).filter(task => name.test(read(`${task}/comm`)));
  if (threads.length === 0) throw new Error(`no thread is called ${name}`);
  return () => threads.reduce((sum, task) => sum + 1e-9 * Number(read(`${task}/schedstat`).split(" ")[0]), 0);
}
