// Runs each of `tasks` in a separate process of Node.
import {fork} from "node:child_process";
import {fileURLToPath} from "node:url";

const worker = fileURLToPath(new URL("node_worker.mjs", import.meta.url));

export async function inNode({build, index, tasks}, report) {
  report({engine: `Node ${process.versions.node} (V8 ${process.versions.v8})`});
  for (const [task, options] of tasks) {
    const child = fork(worker, [build, index]);
    try {
      await new Promise((resolve, reject) => {
        child.on("message", said => said.error ? reject(new Error(said.error)) : said.done ? resolve() : report(said));
        child.on("exit", code => reject(new Error(`a process ended with ${code}`)));
        child.send({task, options});
      });
    } finally {
      child.kill();
    }
  }
}
