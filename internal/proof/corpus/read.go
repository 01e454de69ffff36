// Package corpus reads decisions that other schedulers made and asks them again.
package corpus

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
)

// Asker is a recorded decision of any kind.
type Asker interface {
	ID() string
	// Check asks it again. The error says that it could not be asked.
	Check(*preemption.Preemptor) (Report, error)
	check() error
}

// newCase returns an empty case of the kind of a line; the fields of the line tell the kind.
func newCase(line []byte) (Asker, error) {
	var probe struct {
		Defaults json.RawMessage `json:"defaults"`
		Action   string          `json:"action"`
		Suite    string          `json:"suite"`
		Kind     string          `json:"kind"`
		Table    string          `json:"table"`
	}
	err := json.Unmarshal(line, &probe)
	switch {
	case err != nil:
		return nil, err
	case probe.Suite != "":
		return new(NodeCase), nil
	case probe.Table != "":
		return new(RuleCase), nil
	case strings.HasSuffix(probe.Kind, "-ungate"):
		return new(UngateCase), nil
	case probe.Kind != "":
		return new(GateCase), nil
	case probe.Defaults == nil:
		return new(Case), nil
	case probe.Action == "":
		return new(ResolverCase), nil
	}
	return new(ProtectionCase), nil
}

// knownKind fails on a kind that is none of the given ones.
func knownKind(id, kind string, known ...string) error {
	if !slices.Contains(known, kind) {
		return fmt.Errorf("case %q: unknown kind %q", id, kind)
	}
	return nil
}

// maxLine bounds a line of a file of cases.
const maxLine = 64 << 20

// Read calls yield for each case of a file of JSON Lines, plain or gzip, with its line
// number. It skips empty lines. It stops at the first error, which names the file and line.
func Read(name string, r io.Reader, yield func(line int, c Asker) error) error {
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
		if len(bytes.TrimSpace(text)) == 0 {
			if last != nil {
				return nil
			}
			continue
		}
		c, err := newCase(text)
		if err == nil {
			err = json.Unmarshal(text, c)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if err := yield(line, c); err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
		if last != nil {
			return nil
		}
	}
}

// readLine reads a line of bounded length into a buffer, looking at each byte once. The error
// is [io.EOF] after the last.
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
