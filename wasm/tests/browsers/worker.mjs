import { outputs } from "./checks.mjs";

outputs().then(postMessage, (error) => postMessage({ error: String(error) }));
