// Switches relaxed SIMD on in Node. Import this file before the modules are compiled. Node 20 supports relaxed SIMD
// only with a flag. Node 18 has only the instructions of a draft, which Ladon's modules do not use. Node 22 needs no
// flag, and later versions reject the flag.
import {setFlagsFromString} from 'node:v8';

if (process.versions.node.startsWith('20.')) setFlagsFromString('--experimental-wasm-relaxed-simd');
