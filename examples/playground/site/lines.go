package site

import (
	"bytes"
	"encoding/binary"
)

// A program of Go knows the file and the line of each instruction, and how its arguments are printed, for traces of its stack. The page
// shows no trace: a panic is one sentence. Without these tables the program is a twentieth smaller once it is compressed. What unwinds a
// stack stays, because the garbage collector reads it, and so do names of functions: those of the runtime, and ours for who looks into a panic.

// tablesMagic begins the tables of Go 1.20 and later, with the sizes of an instruction and of a pointer on WebAssembly (internal/abi,
// PCLnTabMagic; runtime, pcHeader).
var tablesMagic = []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}

// Where the parts of a function stand in its entry (runtime, _func), and which of them only traces read (internal/abi, symtab.go).
const (
	atStack, atFile, atLine = 16, 20, 24 // where the tables of its stack, of files and of lines begin; 0: there is none
	atTables, atStart       = 28, 36     // how many other tables it has; its first line
	atData                  = 43         // how many data it has
	entrySize               = 44         // then come where its other tables and its data begin
	argsAlive               = 3          // of the other tables: which arguments are still alive
	argsPrinted, argsAt     = 5, 6       // of the data: how its arguments are printed, and where they are alive
	noData                  = 1<<32 - 1
)

// tables are what a program knows about its functions.
type tables struct {
	entries []byte   // where each function's entry begins, and the entries
	values  []byte   // tables of a value by instruction, one behind the other
	files   []byte   // names of files
	names   []byte   // of functions, each with a zero behind it
	at      []uint32 // where the entries begin
}

// forgetLines clears, in the memory with which a program begins, what only traces of its stack read. It reports whether it found the tables
// as they are known here; else nothing changes.
func forgetLines(memory []byte) bool {
	t, ok := tablesOf(memory)
	if !ok {
		return false
	}
	begins := make([]bool, len(t.values)) // a table
	needed := make([]bool, len(t.values)) // for more than traces
	for _, at := range t.at {
		t.each(at, func(table, only bool, where []byte) {
			if table {
				offset := binary.LittleEndian.Uint32(where)
				begins[offset], needed[offset] = true, needed[offset] || !only
			}
		})
	}
	for _, at := range t.at {
		binary.LittleEndian.PutUint32(t.entries[at+atStart:], 0)
		t.each(at, func(table, only bool, where []byte) {
			switch {
			case only && table:
				binary.LittleEndian.PutUint32(where, 0)
			case only:
				binary.LittleEndian.PutUint32(where, noData)
			}
		})
	}
	keep := true
	for i := range t.values {
		if begins[i] {
			keep = needed[i]
		}
		if !keep {
			t.values[i] = 0
		}
	}
	clear(t.files)
	for name := range bytes.SplitSeq(t.names, []byte{0}) {
		if !bytes.HasPrefix(name, []byte("runtime.")) && !bytes.Contains(name, []byte("/cede/")) { // the runtime knows its own by name
			clear(name)
		}
	}
	return true
}

// each calls with the places in an entry that say where a table begins, or with data; only: for traces alone.
func (t *tables) each(at uint32, call func(table, only bool, where []byte)) {
	entry := t.entries[at:]
	call(true, false, entry[atStack:])
	call(true, true, entry[atFile:])
	call(true, true, entry[atLine:])
	more := binary.LittleEndian.Uint32(entry[atTables:])
	for i := range more {
		call(true, i == argsAlive, entry[entrySize+4*i:])
	}
	for i := range uint32(entry[atData]) {
		call(false, i == argsPrinted || i == argsAt, entry[entrySize+4*(more+i):])
	}
}

// tablesOf finds the tables, and checks that all of them lie within.
func tablesOf(memory []byte) (t tables, ok bool) {
	begin := bytes.Index(memory, tablesMagic)
	if begin < 0 || len(memory)-begin < 72 || bytes.Contains(memory[begin+1:], tablesMagic) {
		return t, false
	}
	all := memory[begin:]
	var header [8]uint64 // the numbers of functions and files, nothing; where names, files of packages, names of files, values and entries begin
	for i := range header {
		if header[i] = binary.LittleEndian.Uint64(all[8+8*i:]); header[i] > uint64(len(all)) || i > 3 && header[i] < header[i-1] {
			return t, false
		}
	}
	t.names, t.files, t.values, t.entries = all[header[3]:header[4]], all[header[4]:header[6]], all[header[6]:header[7]], all[header[7]:]
	count := header[0]
	if count == 0 || count*8 > uint64(len(t.entries)) {
		return t, false
	}
	for i := range count {
		at := binary.LittleEndian.Uint32(t.entries[8*i+4:])
		if !t.within(at) {
			return t, false
		}
		t.at = append(t.at, at)
	}
	return t, true
}

// within reports whether an entry, and the tables that it names, lie within the tables.
func (t *tables) within(at uint32) bool {
	const most = 64 // other tables of a function
	rest := uint64(len(t.entries)) - min(uint64(at), uint64(len(t.entries)))
	if rest < entrySize {
		return false
	}
	more := uint64(binary.LittleEndian.Uint32(t.entries[at+atTables:]))
	if more > most || rest < entrySize+4*(more+uint64(t.entries[at+atData])) {
		return false
	}
	ok := true
	t.each(at, func(table, _ bool, where []byte) {
		ok = ok && (!table || uint64(binary.LittleEndian.Uint32(where)) < uint64(len(t.values)))
	})
	return ok
}
