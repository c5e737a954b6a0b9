// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/tetratelabs/wazero"
)

func main() {
	ctx, config := context.Background(), wazero.NewRuntimeConfig().WithCustomSections(true)
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	file, _ := os.ReadFile(os.Args[1])
	compiled, err := runtime.CompileModule(ctx, file)
	if err != nil {
		log.Fatal(err)
	}
	var kernel struct{ Workspace, Model uint64 } // the description also has the tensors and the options
	json.Unmarshal(compiled.CustomSections()[0].Data(), &kernel)
	module, _ := runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig())
	memory, width := module.Memory(), kernel.Model
	numbers, _ := os.ReadFile(os.Args[2]) // four tensors, and then x
	workspace := (module.ExportedGlobal("__heap_base").Get() + 63) / 64 * 64
	weights := workspace + kernel.Workspace // an array of 4 pointers
	options, y, x := weights+4*4, weights+64, weights+64+3*width*4
	memory.Grow(uint32(x+uint64(len(numbers)))/65536 + 1)
	memory.Write(uint32(x), numbers)
	for i, count := range []uint64{3 * width * width, 3 * width, width * width, width} {
		memory.WriteUint32Le(uint32(weights)+4*uint32(i), uint32(x))
		x += 4 * count
	}
	memory.WriteUint32Le(uint32(options), 3) // tokens. The other options remain 0
	if status, err := module.ExportedFunction("run").Call(ctx, x, weights, y, workspace, options); err != nil || status[0] != 0 {
		log.Fatal(err, status)
	}
	result, _ := memory.Read(uint32(y), uint32(3*width*4))
	os.Stdout.Write(result)
}
