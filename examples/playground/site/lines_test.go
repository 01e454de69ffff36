package site

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// function is a function in tables: where the tables of its stack, files and lines begin, its other tables, and its data.
type function struct {
	stack, file, line uint32
	others, data      []uint32
}

// functions are the names of functions.
const functions = "sync.f\x00runtime.g\x00of/cede/h\x00"

// tablesWith is a memory with tables about functions, behind some bytes.
func tablesWith(values []byte, list ...function) []byte {
	out := slices.Concat([]byte("before"), tablesMagic)
	const names = 72
	files := names + len(functions)
	number := func(n int) { out = binary.LittleEndian.AppendUint64(out, uint64(n)) }
	for _, n := range []int{len(list), 1, 0, names, files, files + 4, files + 8, files + 8 + len(values)} {
		number(n)
	}
	out = append(append(out, functions+"pkg\x00a.g\x00"...), values...)
	var where, entries []byte
	for i, f := range list {
		where = binary.LittleEndian.AppendUint32(where, uint32(i)*8)
		where = binary.LittleEndian.AppendUint32(where, uint32(8*len(list)+len(entries)))
		for _, n := range []uint32{0, 0, 8, 0, f.stack, f.file, f.line, uint32(len(f.others)), 0, 7777} {
			entries = binary.LittleEndian.AppendUint32(entries, n)
		}
		entries = append(entries, 0, 0, 0, byte(len(f.data)))
		for _, n := range slices.Concat(f.others, f.data) {
			entries = binary.LittleEndian.AppendUint32(entries, n)
		}
	}
	return slices.Concat(out, where, entries)
}

// Only what traces read is forgotten: a table that something else needs, too, stays, and so do the others and the data.
func TestForgetLines(t *testing.T) {
	const values = "\x00SSFFLLPPAABB"
	memory := tablesWith([]byte(values),
		function{1, 3, 5, []uint32{7, 7, 0, 9}, []uint32{10, 11, 12, 13, 14, 15, 16, 17}},
		function{1, 11, 5, []uint32{11}, []uint32{10}})
	const kept = "\x00SS\x00\x00\x00\x00PP\x00\x00BB"
	want := tablesWith([]byte(kept),
		function{1, 0, 0, []uint32{7, 7, 0, 0}, []uint32{10, 11, 12, 13, 14, noData, noData, 17}},
		function{1, 0, 0, []uint32{11}, []uint32{10}})
	want = bytes.ReplaceAll(want, []byte{0x61, 0x1e, 0, 0}, make([]byte, 4))
	want = bytes.Replace(want, []byte("sync.f"), make([]byte, 6), 1)
	want = bytes.Replace(want, []byte("pkg\x00a.g\x00"), make([]byte, 8), 1)
	if !forgetLines(memory) || !bytes.Equal(memory, want) {
		t.Errorf("\n%q, want\n%q", memory, want)
	}
}

// Tables that are not as they are known, and memory without them, stay.
func TestForgetLinesOfOthers(t *testing.T) {
	good := tablesWith([]byte("\x00SSFFLL"), function{1, 3, 5, []uint32{3}, []uint32{1}})
	at := func(offset int, b ...byte) []byte {
		out := slices.Clone(good)
		copy(out[6+offset:], b)
		return out
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "no tables": []byte("before"), "cut": good[:len(good)-1], "cut short": good[:60], "twice": slices.Concat(good, good),
		"another version": at(0, 0xf2), "no function": at(8, 0), "more functions": at(8, 200), "files behind values": at(8+8*4, 200), "beyond": at(8+8*7, 0xff, 0xff),
		"an entry beyond": at(72+len(functions)+8+7+4, 250), "a table beyond": at(72+len(functions)+8+7+8+atLine, 7), "many tables": at(72+len(functions)+8+7+8+atTables, 65),
	} {
		memory := slices.Clone(bad)
		if forgetLines(memory) || !bytes.Equal(memory, bad) {
			t.Errorf("%s: it changed", name)
		}
	}
	if !forgetLines(good) {
		t.Error("the tables are not found")
	}
}
