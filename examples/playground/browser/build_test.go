//go:build unix || windows

package browser_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/cedesched/cede/examples/playground/site"
)

// maxWasm is the most bytes of the WebAssembly as it goes over the wire.
const maxWasm = 3_000_000

// The programs of the page are built from source, without a browser, too. One test program builds them: two that
// build at the same time compile everything twice.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the WebAssembly")
	}
	p := must(programs())(t)
	if n := len(p.Wasm); n > maxWasm || n < maxWasm/10 {
		t.Errorf("the WebAssembly has %d bytes, gzipped", n)
	}
	unzipped := must(gzip.NewReader(bytes.NewReader(p.Wasm)))(t)
	wasm, err := io.ReadAll(unzipped)
	if err != nil || !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		t.Errorf("the program begins with %q, %v", wasm[:min(len(wasm), 8)], err)
	}
	if files := site.Files(p); len(files) < 10 || !bytes.Contains(p.Worker, []byte("WebAssembly")) {
		t.Errorf("%d files, a worker of %d bytes", len(files), len(p.Worker))
	}
}
