//go:build js && wasm

// Command wasm is the program of the workers of the what-if page: it answers their questions with
// [whatif.Answer].
package main

import (
	"context"
	"runtime/debug"
	"syscall/js"

	"productform/cmd/whatif/internal"
)

func main() {
	debug.SetGCPercent(800) // answers leave little garbage, and memory is plentiful
	answer := func(_ js.Value, args []js.Value) any {
		progress := func(part float64) { args[1].Invoke(part) }
		return string(whatif.Answer(context.Background(), []byte(args[0].String()), progress))
	}
	js.Global().Call("ready", js.FuncOf(answer))
	select {}
}
