package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// chunk is text that is parsed at once.
type chunk struct {
	text []byte
	line int // of its first
}

func (c *chunk) add(text []byte, line int) error {
	if len(c.text) == 0 {
		c.line = line
	}
	if len(c.text)+len(text) > maxYAML {
		return fmt.Errorf("line %d: %w", c.line, errLongYAML)
	}
	c.text = append(c.text, text...)
	return nil
}

func (c *chunk) isBlank() bool {
	for line := range bytes.Lines(c.text) {
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' {
			return false
		}
	}
	return true
}

// yamlReader splits YAML into its objects by the indentation of lines, so that a list is
// not parsed at once. What stands in a list is indented more than the dashes of the list.
type yamlReader struct {
	*reader
	head, item chunk   // the document without its items; the item that is read
	items      *list   // nil: none so far
	anchors    anchors // of the items of the document
	inItems    bool
	indent     int // of the dashes; -1: not known yet
	documents  int
}

func (r *reader) yaml(in *bufio.Reader) error {
	y := &yamlReader{reader: r}
	for line := 1; ; line++ {
		text, err := readLine(in)
		if len(text) > 0 {
			if err := y.line(text, line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			err = y.endDocument()
			if err == nil && y.documents == 0 {
				err = errors.New("there are no objects in it")
			}
			return err
		case err != nil:
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// readLine reads a line of bounded length, with its end.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxYAML {
			return nil, fmt.Errorf("more than %d KiB in one line: neither JSON nor YAML of Kubernetes", maxYAML>>10)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

var itemsKey = regexp.MustCompile(`^(items|"items"|'items'):[ \t]*(#.*)?$`)

func (y *yamlReader) line(text []byte, number int) error {
	bare := bytes.TrimRight(text, " \t\r\n")
	trimmed := bytes.TrimLeft(bare, " ")
	indent := len(bare) - len(trimmed)
	isDash := len(trimmed) > 0 && trimmed[0] == '-' && (len(trimmed) == 1 || trimmed[1] == ' ' || trimmed[1] == '\t')
	switch {
	case isMark(bare, "---"):
		if err := y.endDocument(); err != nil {
			return err
		}
		rest := append(bytes.TrimLeft(bare[3:], " \t"), '\n')
		return y.head.add(rest, number)
	case isMark(bare, "..."):
		return y.endDocument()
	case len(trimmed) == 0 || trimmed[0] == '#':
		if y.inItems && len(y.item.text) > 0 {
			return y.item.add(text, number)
		}
		return y.head.add([]byte("\n"), number)
	case !y.inItems && itemsKey.Match(bare):
		y.inItems, y.indent, y.items = true, -1, &list{late: true}
		return nil
	case !y.inItems && isDash && indent == 0 && y.items == nil && y.head.isBlank(): // a list without more
		y.inItems, y.items = true, new(list)
	case y.inItems && y.indent < 0 && isDash:
		y.indent = indent
	case y.inItems && y.indent < 0 && indent > 0:
		return fmt.Errorf("line %d: items: want a list", number)
	}
	if y.inItems && (indent < y.indent || indent == y.indent && !isDash || y.indent < 0) {
		if err := y.endItem(); err != nil {
			return err
		}
		y.inItems = false
	}
	switch {
	case !y.inItems:
		return y.head.add(text, number)
	case indent == y.indent && isDash:
		if err := y.endItem(); err != nil {
			return err
		}
	}
	return y.item.add(text, number)
}

// isMark reports whether a line is a mark between documents.
func isMark(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// endItem hands the item out that was read.
func (y *yamlReader) endItem() error {
	if y.item.isBlank() {
		y.item.text = y.item.text[:0]
		return nil
	}
	all, before := y.anchors.with(&y.item)
	y.anchors.keep(&y.item)
	s, err := y.parse(&all)
	y.item.text = y.item.text[:0]
	if err != nil {
		return err
	}
	if _, err := s.token(); err != nil { // the item is a list of one, and those before it
		return err
	}
	for range before {
		if err := s.skip(); err != nil {
			return err
		}
	}
	own := fmt.Sprintf("[%d].", before)
	y.twice = slices.DeleteFunc(y.twice, func(path string) bool { return !strings.HasPrefix(path, own) })
	for i := range y.twice {
		y.twice[i] = strings.TrimPrefix(y.twice[i], own)
	}
	return y.array(s, y.items, 1)
}

func (y *yamlReader) endDocument() error {
	err := y.endItem()
	items, blank := y.items, y.head.isBlank()
	y.items, y.inItems, y.indent, y.anchors = nil, false, 0, anchors{}
	if !blank || items != nil {
		y.documents++
	}
	switch {
	case err != nil:
		return err
	case blank && items == nil:
		y.head.text = y.head.text[:0]
		return nil
	case blank:
		y.head.text = y.head.text[:0]
		return y.release(items, new(Object))
	}
	line := y.head.line
	if items == nil && isJSON(y.head.text) {
		s := newStream(bytes.NewReader(y.head.text))
		s.line, y.head.text = line, y.head.text[:0]
		for err == nil {
			err = y.value(s, nil, 0)
		}
		if err == io.EOF {
			return nil
		}
		return err
	}
	s, err := y.parse(&y.head)
	if err != nil {
		return err
	}
	if items == nil {
		return y.value(s, nil, 0)
	}
	if kind, err := s.token(); err != nil || kind != '{' {
		return fmt.Errorf("line %d: want a Kubernetes object beside the items", line)
	}
	o, err := y.object(s, nil, 0)
	if err != nil || o == nil {
		return err
	}
	return y.release(items, o)
}

// isJSON reports whether text is objects and lists of JSON, one after the other.
func isJSON(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text), lax...)
	for d.PeekKind() == '{' || d.PeekKind() == '[' {
		if d.SkipValue() != nil {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == io.EOF
}

var lineNumber = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// parse turns a chunk into JSON and empties it.
func (y *yamlReader) parse(c *chunk) (*stream, error) {
	data, twice, err := FromYAML(c.text)
	if err != nil {
		text := oneLine(err.Error())
		match := lineNumber.FindStringSubmatch(text)
		line := c.line
		if n, err := strconv.Atoi(match[1]); err == nil {
			line += n - 1
		}
		kind := "not YAML"
		if match[0] == "" { // no error of the parser
			return nil, fmt.Errorf("line %d: %s", line, text)
		}
		if y.items == nil && y.reader.items == 0 {
			kind = "neither JSON nor YAML"
		}
		return nil, fmt.Errorf("%s: line %d: %s", kind, line, text[len(match[0]):])
	}
	s := newStream(bytes.NewReader(data))
	y.twice = twice
	s.line, c.text = c.line, c.text[:0]
	return s, nil
}
