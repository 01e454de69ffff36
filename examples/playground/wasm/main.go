//go:build js && wasm

// Wasm is the model of the page as WebAssembly, for a Web Worker. It adds two functions to the
// global scope of the worker and waits:
//
//	cedeOpen(read, name, now)      reads a document, or objects; returns {error}
//	cedeCall(name, arguments)      makes a call of package model; returns {result} or {error}
//	cedeClusters(read)             answers about several clusters (model.Clusters)
//
// read(n) returns the next bytes of the input, at most n, none at its end; without it the
// sample is opened. Arguments and results are JSON, times RFC 3339.
package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/cedesched/cede/examples/playground/model"
)

func main() {
	debug.SetGCPercent(400)
	var m *model.Model
	open := func(args []js.Value) (string, error) {
		d, err := read(args)
		if err != nil {
			return "", err
		}
		next, err := model.New(d)
		if err != nil {
			return "", err
		}
		next.SelectTelling(20) // in a large cluster each takes some milliseconds
		m = next
		return "null", nil
	}
	call := func(args []js.Value) (string, error) {
		if m == nil {
			return "", fmt.Errorf("nothing is open")
		}
		data, err := m.Call(args[0].String(), []byte(args[1].String()))
		return string(data), err
	}
	js.Global().Set("cedeOpen", function(open))
	js.Global().Set("cedeCall", function(call))
	js.Global().Set("cedeClusters", function(func(args []js.Value) (string, error) {
		data, err := model.Clusters(&chunks{read: args[0]})
		return string(data), err
	}))
	js.Global().Call("cedeReady")
	select {}
}

// function makes a function for JavaScript. An error, or a panic, is returned as text.
func function(f func([]js.Value) (string, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) (out any) {
		defer func() {
			if r := recover(); r != nil {
				out = map[string]any{"error": fmt.Sprint("this is a fault of the page: ", r)}
			}
		}()
		result, err := f(args)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"result": result}
	})
}

func read(args []js.Value) (model.Document, error) {
	if args[0].IsNull() {
		return model.Sample()
	}
	now, err := time.Parse(time.RFC3339Nano, args[2].String())
	if err != nil {
		return model.Document{}, err
	}
	return model.Read(&chunks{read: args[0]}, args[1].String(), now)
}

// chunks reads what JavaScript hands over piece by piece.
type chunks struct {
	read js.Value
	rest []byte
}

// chunk is the number of bytes of a piece: few calls, and the progress bar moves.
const chunk = 1 << 20

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		piece := c.read.Invoke(chunk)
		c.rest = make([]byte, piece.Get("length").Int())
		if js.CopyBytesToGo(c.rest, piece); len(c.rest) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}
