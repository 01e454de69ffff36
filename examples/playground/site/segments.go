package site

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// The linker of Go leaves zeros out of the memory with which a program begins: it cuts it into a hundred thousand segments, each with its
// address. The addresses do not compress, and zeros do: with few segments the program is a twentieth smaller once it is compressed.

// Sections of WebAssembly (WebAssembly Core Specification 2.0, 5.5: modules). Section 12 counts the segments.
const (
	dataSection  = 11
	countSection = 12
)

// header begins each program: a name, and the version of the format.
const header = "\x00asm\x01\x00\x00\x00"

// mostZeros is the longest run of zeros that is written out.
const mostZeros = 1 << 12

// segment is a part of the memory with which a program begins.
type segment struct {
	at   int64
	data []byte
}

// errNoProgram says that data are not WebAssembly as the linker of Go writes it.
var errNoProgram = errors.New("this is no WebAssembly of the go tool")

// shrink returns a program that begins with the same memory in few segments, but for what only traces of its stack read.
func shrink(wasm []byte) ([]byte, error) {
	rest, is := bytes.CutPrefix(wasm, []byte(header))
	if !is {
		return nil, errNoProgram
	}
	out := []byte(header)
	for len(rest) > 0 {
		kind := rest[0]
		content, after, ok := sized(rest[1:])
		switch {
		case !ok || kind == countSection: // the linker writes none
			return nil, errNoProgram
		case kind == dataSection:
			list, ok := segmentsOf(content)
			if !ok {
				return nil, errNoProgram
			}
			list = joined(list)
			for i := range list {
				forgetLines(list[i].data)
			}
			content = written(list)
		}
		out = appendCount(append(out, kind), len(content))
		out, rest = append(out, content...), after
	}
	return out, nil
}

// sized cuts off bytes that their number stands before.
func sized(data []byte) (part, rest []byte, ok bool) {
	n, used := binary.Uvarint(data)
	if used <= 0 || n > uint64(len(data)-used) {
		return nil, nil, false
	}
	return data[used : used+int(n)], data[used+int(n):], true
}

// segmentsOf reads the section of the segments. Each begins with 0, and its address between i32.const (0x41) and end (0x0b).
func segmentsOf(section []byte) (list []segment, ok bool) {
	count, used := binary.Uvarint(section)
	if used <= 0 {
		return nil, false
	}
	rest := section[used:]
	for range count {
		var s segment
		if rest, ok = bytes.CutPrefix(rest, []byte{0, 0x41}); !ok {
			return nil, false
		}
		if s.at, used = signed(rest); used == 0 || s.at < 0 {
			return nil, false
		}
		if rest, ok = bytes.CutPrefix(rest[used:], []byte{0x0b}); !ok {
			return nil, false
		}
		if s.data, rest, ok = sized(rest); !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, len(rest) == 0
}

// joined joins segments that only some zeros part. None lies in another one; else they stay as they are.
func joined(list []segment) (out []segment) {
	byAddress := slices.DeleteFunc(slices.Clone(list), func(s segment) bool { return len(s.data) == 0 })
	slices.SortStableFunc(byAddress, func(a, b segment) int { return cmp.Compare(a.at, b.at) })
	for _, s := range byAddress {
		if len(out) == 0 {
			out = append(out, segment{s.at, slices.Clone(s.data)})
			continue
		}
		last := &out[len(out)-1]
		switch zeros := s.at - last.at - int64(len(last.data)); {
		case zeros < 0:
			return list
		case zeros <= mostZeros:
			last.data = append(append(last.data, make([]byte, zeros)...), s.data...)
		default:
			out = append(out, segment{s.at, slices.Clone(s.data)})
		}
	}
	return out
}

// written is the section of the segments.
func written(list []segment) []byte {
	out := appendCount(nil, len(list))
	for _, s := range list {
		out = appendSigned(append(out, 0, 0x41), s.at)
		out = appendCount(append(out, 0x0b), len(s.data))
		out = append(out, s.data...)
	}
	return out
}

// signed reads a number in LEB128 of the signed kind, and how many bytes it takes; none: it is wrong.
func signed(data []byte) (n int64, used int) {
	for shift := 0; used < len(data) && shift < 35; shift += 7 {
		b := data[used]
		n |= int64(b&0x7f) << shift
		if used++; b&0x80 == 0 {
			if b&0x40 != 0 {
				n -= 1 << (shift + 7)
			}
			return n, used
		}
	}
	return 0, 0
}

// appendCount appends a number in LEB128.
func appendCount(out []byte, n int) []byte { return binary.AppendUvarint(out, uint64(n)) }

// appendSigned appends a number that is not negative in LEB128 of the signed kind.
func appendSigned(out []byte, n int64) []byte {
	for n >= 0x40 {
		out = append(out, byte(n&0x7f)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}
