package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The counters of two functions, in the form in which a program writes them.
func TestSumOfCounters(t *testing.T) {
	data := []byte(counterMagic)
	data = append(data, make([]byte, counterHeader-len(data))...)
	data[24] = counterLEB128
	data = binary.LittleEndian.AppendUint64(data, 2)
	data = binary.LittleEndian.AppendUint32(data, 3)
	data = binary.LittleEndian.AppendUint32(data, 2)
	data = append(data, "str\x01\x02\x00\x00\x00"...)
	for _, n := range []uint64{2, 7, 9, 1_000_000, 5, 1, 7, 10, 300} {
		data = binary.AppendUvarint(data, n)
	}
	data = append(data, "the end"...)
	if sum, err := sumOfCounters(data); sum != 1_000_305 || err != nil {
		t.Errorf("%d, %v", sum, err)
	}
	for _, wrong := range [][]byte{nil, data[:50], data[:58], append([]byte("covc"), data[4:]...)} {
		if sum, err := sumOfCounters(wrong); err == nil {
			t.Errorf("%d bytes: %d, and no error", len(wrong), sum)
		}
	}
}

// A program that is built to count blocks finds an idle loop, which neither takes steps nor allocates.
func TestIdleLoopsAreCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	dir := t.TempDir()
	program := `package main
import "runtime/coverage"
import "fmt"
func main() {
	for _, n := range []int{1, 1000001} {
		blocks, err := blocksOf(func() { idle(n) })
		fmt.Println(blocks/1000, err, coverage.ClearCounters())
	}
}
func idle(n int) { for range n { sink++ } }
var sink int
`
	blocks, err := os.ReadFile("blocks.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": program, "blocks.go": string(blocks), "go.mod": "module idle\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", "-cover", "-covermode=atomic", ".")
	run.Dir, run.Env = dir, append(os.Environ(), "GOWORK=off", "GOCOVERDIR="+dir)
	if out, err := run.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "0 <nil> <nil>\n1000 <nil> <nil>\n") {
		t.Errorf("%v: %s", err, out)
	}
}
