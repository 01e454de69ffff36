package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// maxObject is the most text of one object, or of one document of YAML. An API server stores objects of some 1.5 MiB.
var maxObject = 64 << 20

// bounded fails when more text comes than one object has.
type bounded struct {
	r      io.Reader
	left   int
	failed error // why nothing more can be read
}

func (b *bounded) Read(p []byte) (n int, err error) {
	if b.left <= 0 {
		err = fmt.Errorf("more than %d MiB in one object or document of YAML", maxObject>>20)
	} else {
		n, err = b.r.Read(p[:min(len(p), b.left)])
		b.left -= n
	}
	if err != nil && err != io.EOF {
		b.failed = err
	}
	return n, err
}

// Text unzips and decodes text: UTF-8, or UTF-16 with a byte-order mark.
func Text(source io.Reader) (io.Reader, error) {
	in := bufio.NewReader(source)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := Unzip(in)
		return transform.NewReader(unzipped, unicode.BOMOverride(transform.Nop)), err
	}
	return transform.NewReader(in, unicode.BOMOverride(transform.Nop)), nil
}
