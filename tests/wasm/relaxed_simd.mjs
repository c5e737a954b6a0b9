// Imported for its effect: what is compiled from then on may have relaxed SIMD where this Node knows it. Node 20 does
// only when asked to. 18 does not have the instructions that became the standard; 22 has them without being asked, and
// later ones do not know the flag.
import {setFlagsFromString} from 'node:v8';

if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd');
