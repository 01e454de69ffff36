package site

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/cedesched/cede/internal/proof/seed" // the law draws the same states at each run
)

// sections reads a program: the sections but that of the segments, and the segments.
func sections(t interface{ Fatal(...any) }, wasm []byte) (others []byte, list []segment) {
	rest := bytes.TrimPrefix(wasm, []byte(header))
	for len(rest) > 0 {
		kind := rest[0]
		content, after, ok := sized(rest[1:])
		if !ok {
			t.Fatal("a section has no end")
		}
		if kind != dataSection {
			others = append(others, rest[:len(rest)-len(after)]...)
		} else if list, ok = segmentsOf(content); !ok {
			t.Fatal("the segments cannot be read")
		}
		rest = after
	}
	return others, list
}

// memory is what segments write into so many zeros.
func memory(size int64, list []segment) []byte {
	out := make([]byte, size)
	for _, s := range list {
		copy(out[s.at:], s.data)
	}
	return out
}

// A program begins with the same memory in fewer segments, and its other sections stay.
func TestShrinkKeepsTheMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 200_000
		var list []segment
		for at := int64(0); ; {
			at += int64(rapid.SampledFrom([]int{0, 1, 8, 64, mostZeros, mostZeros + 1, 70_000}).Draw(t, "zeros"))
			data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
			if at+int64(len(data)) > size {
				break
			}
			list = append(list, segment{at, data})
			at += int64(len(data))
		}
		if rapid.Bool().Draw(t, "turned") {
			slices.Reverse(list)
		}
		other := append([]byte{10, 3}, "abc"...)
		program := slices.Concat([]byte(header), other, section(list), other)
		shrunk, err := shrink(program)
		if err != nil {
			t.Fatal(err)
		}
		others, joined := sections(t, shrunk)
		if !bytes.Equal(others, slices.Concat(other, other)) || !bytes.Equal(memory(size, joined), memory(size, list)) || len(joined) > len(list) {
			t.Fatalf("%d segments became %d others", len(list), len(joined))
		}
		for i := 1; i < len(joined); i++ {
			if before := joined[i-1]; joined[i].at-before.at-int64(len(before.data)) <= mostZeros {
				t.Fatalf("segment %d could be joined", i)
			}
		}
	})
}

// section is the section of segments.
func section(list []segment) []byte {
	content := written(list)
	return append(appendCount([]byte{dataSection}, len(content)), content...)
}

// Segments that lie in each other stay as they are: the order in which they are written decides.
func TestSegmentsInEachOther(t *testing.T) {
	program := append([]byte(header), section([]segment{{4, []byte("abcd")}, {6, []byte("x")}})...)
	if shrunk, err := shrink(program); err != nil || !bytes.Equal(shrunk, program) {
		t.Errorf("%q, %v", shrunk, err)
	}
}

// What is no program of the linker is an error.
func TestShrinkFails(t *testing.T) {
	whole := append([]byte(header), section([]segment{{4, []byte("abcd")}})...)
	for name, bad := range map[string][]byte{
		"empty": nil, "no header": whole[1:], "cut": whole[:len(whole)-1], "a count of segments": append(slices.Clone(whole), countSection, 1, 1),
		"segments of another kind": bytes.Replace(whole, []byte{0, 0x41}, []byte{1, 0x41}, 1), "an address of another kind": bytes.Replace(whole, []byte{0, 0x41, 4, 0x0b}, []byte{0, 0x41, 4, 0x0c}, 1),
		"a negative address": bytes.Replace(whole, []byte{0, 0x41, 4, 0x0b}, []byte{0, 0x41, 0x7f, 0x0b}, 1), "more than it says": append(append([]byte(header), dataSection, 2), 0, 0),
		"an address without end": append(append([]byte(header), dataSection, 9, 1, 0, 0x41), bytes.Repeat([]byte{0x80}, 6)...),
	} {
		if _, err := shrink(bad); err != errNoProgram {
			t.Errorf("%s: %v", name, err)
		}
	}
}
