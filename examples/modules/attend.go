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
	numbers, _ := os.ReadFile(os.Args[2])

	workspace := (module.ExportedGlobal("__heap_base").Get() + 63) / 64 * 64
	tensors := workspace + kernel.Workspace
	weights := tensors + uint64(len(numbers)) // an array of 4 pointers
	options, y := weights+4*4, weights+64
	memory.Grow(uint32(y+3*width*4)/65536 + 1)
	memory.Write(uint32(tensors), numbers)
	x := tensors // x follows the tensors
	for i, count := range []uint64{3 * width * width, 3 * width, width * width, width} {
		memory.WriteUint32Le(uint32(weights)+4*uint32(i), uint32(x))
		x += 4 * count
	}
	memory.WriteUint32Le(uint32(options), 3) // tokens. The other options remain 0
	status, err := module.ExportedFunction("run").Call(ctx, x, weights, y, workspace, options)
	if err != nil || status[0] != 0 {
		log.Fatal(err, status)
	}
	result, _ := memory.Read(uint32(y), uint32(3*width*4))
	os.Stdout.Write(result)
}
