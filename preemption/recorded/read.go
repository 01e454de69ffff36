package recorded

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of a file.
const maxLine = 64 << 20

// Parse reads a case. It fails on unknown fields, and on a case that has no question.
func Parse(line []byte) (*Case, error) {
	c := new(Case)
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(c); err != nil {
		return nil, err
	}
	return c, c.Validate()
}

// Read calls yield for each case of a file, with its line number. It stops at the first error, which names the file and line.
func Read(name string, r io.Reader, yield func(line int, c *Case) error) error {
	return Lines(name, r, func(line int, text []byte) error {
		c, err := Parse(text)
		if err != nil {
			return err
		}
		return yield(line, c)
	})
}

// Lines calls yield for each line of a file, plain or gzip, that is not empty. The text is valid during the call. Lines stops at
// the first error, and adds the file and line to it.
func Lines(name string, r io.Reader, yield func(line int, text []byte) error) error {
	buffered := bufio.NewReader(r)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		buffered = bufio.NewReader(unzipped)
	}
	var text []byte
	for line := 1; ; line++ {
		var last error
		text, last = readLine(buffered, text[:0])
		if last != nil && !errors.Is(last, io.EOF) {
			return fmt.Errorf("%s:%d: %w", name, line, last)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := yield(line, text); err != nil {
				return fmt.Errorf("%s:%d: %w", name, line, err)
			}
		}
		if last != nil {
			return nil
		}
	}
}

// readLine reads a line of bounded length into a buffer and looks at each byte once. The error is [io.EOF] after the last line.
func readLine(in *bufio.Reader, into []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if into = append(into, part...); len(into) > maxLine {
			return nil, fmt.Errorf("more than %d MiB in one line", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return into, err
		}
	}
}
