// Imported for its effect: modules compiled after this import may use relaxed SIMD, where this Node has it. Node 20 has
// it behind a flag. Node 18 has only the instructions of a draft. Node 22 needs no flag, and later versions reject the
// flag.
import {setFlagsFromString} from 'node:v8';

if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd');
