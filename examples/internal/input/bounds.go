package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// An API server stores objects of some 1.5 MiB at most.
const (
	maxObject   = 16 << 20 // one field of one object
	maxDocument = 48 << 20 // one field of a document without kind, which is read whole
	maxHeld     = 32 << 20 // items whose list says late what they are
	maxYAML     = 1 << 20  // one object, which takes a hundred times its text to parse
	maxBlanks   = 1 << 20  // in one run
	maxDepth    = 32       // of lists in lists
	maxOdd      = 1000     // objects without kind
	maxNotes    = 1000
	maxWords    = 1000 // that are kept
	// A file that unzips to more than minBomb is refused when that is maxRatio times its size.
	minBomb  = 64 << 20
	maxRatio = 200
)

// maxSpare bounds objects of other kinds, and those that are there once more.
var maxSpare = 1 << 19

// plain unzips and decodes a source, and bounds what it may cost.
func plain(source io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(source, 1<<16)
	checked := io.Reader(&guard{r: in})
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		var err error
		if checked, err = Unzip(in); err != nil {
			return nil, err
		}
	}
	out := bufio.NewReaderSize(checked, 1<<16)
	start, _ := out.Peek(4)
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, _ = out.Discard(3)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, errors.New("it is a ZIP archive: unpack it first")
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return decode16(out, unicode.LittleEndian), nil
	case len(start) == 4 && start[1] == 0 && start[3] == 0 && start[0] != 0:
		return decode16(out, unicode.LittleEndian), nil
	case len(start) == 4 && start[0] == 0 && start[2] == 0 && start[1] != 0:
		return decode16(out, unicode.BigEndian), nil
	}
	return out, nil
}

// Unzip reads gzip, and bounds what it may cost. Its errors say that the gzip is at fault, not what
// it holds.
func Unzip(in io.Reader) (io.Reader, error) {
	counted := &counter{r: in}
	r, err := gzip.NewReader(counted)
	return &guard{r: zipped{r}, zipped: counted}, faultOfGzip(err)
}

type zipped struct{ r *gzip.Reader }

func (z zipped) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	return n, faultOfGzip(err)
}

func faultOfGzip(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the gzip ends early")
	}
	return fmt.Errorf("the gzip is damaged: %w", err)
}

// decode16 decodes; a byte-order mark beats the order that is given.
func decode16(in io.Reader, order unicode.Endianness) *bufio.Reader {
	decoder := unicode.UTF16(order, unicode.UseBOM).NewDecoder()
	return bufio.NewReaderSize(&guard{r: transform.NewReader(in, decoder)}, 1<<16)
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// guard refuses what can only be meant to fill the memory.
type guard struct {
	r      io.Reader
	zipped *counter // what it comes from, if that is smaller
	read   int64
	blanks int // at the end of what was read
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p[:min(len(p), maxBlanks/4)]) // less than a run: none hides in the middle
	g.read += int64(n)
	const blank = " \t\r\n"
	if lead := n - len(bytes.TrimLeft(p[:n], blank)); lead == n || g.blanks+lead > maxBlanks {
		g.blanks += lead
	} else {
		g.blanks = n - len(bytes.TrimRight(p[:n], blank))
	}
	switch {
	case g.blanks > maxBlanks:
		return 0, fmt.Errorf("byte %d: more than %d MiB of blanks", g.read, maxBlanks>>20)
	case g.zipped != nil && g.read > minBomb && g.read/maxRatio > g.zipped.n:
		return 0, fmt.Errorf("%d bytes unzip to more than %d MiB: this is no dump or trace", g.zipped.n, g.read>>20)
	}
	return n, err
}
