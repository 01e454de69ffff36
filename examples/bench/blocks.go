package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime/coverage"
)

// A program built with -cover -covermode=atomic counts how often it runs each basic block of the packages in -coverpkg. Their sum is a
// count that no loop escapes, whether it looks at workloads, copies or only turns, and it is the same on every machine.

// blocksOf returns how many blocks an operation runs; zero: the program does not count them.
func blocksOf(operation func()) (int64, error) {
	if coverage.ClearCounters() != nil {
		return 0, nil
	}
	operation()
	var b bytes.Buffer
	if err := coverage.WriteCounters(&b); err != nil {
		return 0, err
	}
	return sumOfCounters(b.Bytes())
}

// The form of counters, see internal/coverage/defs.go of the Go distribution: a header of 32 bytes; the number of functions and the
// lengths of two tables, which are padded to a multiple of 4; for each function the number of its counters, two numbers that name it and
// the counters, all as ULEB128.
const (
	counterMagic  = "\x00cwm"
	counterHeader = 32
	counterTables = 16
	counterLEB128 = 2
)

func sumOfCounters(data []byte) (sum int64, err error) {
	if len(data) < counterHeader+counterTables || string(data[:4]) != counterMagic || data[24] != counterLEB128 || data[25] != 0 {
		return 0, fmt.Errorf("the counters of blocks have an unknown form: % x", data[:min(len(data), counterHeader)])
	}
	sizes := data[counterHeader:]
	functions := binary.LittleEndian.Uint64(sizes)
	tables := int(binary.LittleEndian.Uint32(sizes[8:])) + int(binary.LittleEndian.Uint32(sizes[12:]))
	at := counterHeader + counterTables + tables
	at += (4 - at%4) % 4
	next := func() uint64 {
		n, size := binary.Uvarint(data[min(at, len(data)):])
		if size <= 0 {
			err = fmt.Errorf("the counters of blocks end at %d of %d bytes", at, len(data))
		}
		at += max(size, 0)
		return n
	}
	for ; functions > 0 && err == nil; functions-- {
		counters := next()
		next() // the package
		next() // the function
		for ; counters > 0 && err == nil; counters-- {
			sum += int64(next())
		}
	}
	return sum, err
}
