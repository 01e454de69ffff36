package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// stream reads JSON value by value, each of bounded size, and says where it fails.
type stream struct {
	source  boundedReader
	decoder *json.Decoder
	line    int // of YAML that it was made of
}

// at is where the stream is.
func (s *stream) at() string {
	if s.line > 0 {
		return fmt.Sprintf("line %d", s.line)
	}
	return fmt.Sprintf("byte %d", s.decoder.InputOffset())
}

func newStream(in io.Reader) *stream {
	s := &stream{source: boundedReader{r: in}}
	s.decoder = json.NewDecoder(&s.source)
	return s
}

func (s *stream) token(limit int64) (json.Token, error) {
	s.source.limit, s.source.most = s.decoder.InputOffset()+limit, limit
	token, err := s.decoder.Token()
	return token, s.explain(err)
}

func (s *stream) decode(into any, limit int64) error {
	s.source.limit, s.source.most = s.decoder.InputOffset()+limit, limit
	return s.explain(s.decoder.Decode(into))
}

// skip goes to the end of the value that starts with a token.
func (s *stream) skip(token json.Token) error {
	for depth := 0; ; {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if token, err = s.token(maxObject); err != nil {
			return err
		}
	}
}

// explain says where an error of the decoder is. io.EOF stays as it is.
func (s *stream) explain(err error) error {
	var syntax *json.SyntaxError
	var large *tooLarge
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.endsEarly()
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: byte %d: %w", s.offsetOf(syntax), err)
	case errors.As(err, &large):
		return fmt.Errorf("%s: %w", s.at(), err)
	}
	return err
}

// offsetOf is the place of an error in the input. The decoder's own offsets are that
// between values; within one they count only what Decode read. The value is still
// buffered then: look for the place in it.
func (s *stream) offsetOf(err *json.SyntaxError) int64 {
	offset := s.decoder.InputOffset()
	if err.Offset == offset {
		return offset
	}
	rest, _ := io.ReadAll(s.decoder.Buffered()) // of memory: cannot fail
	var again *json.SyntaxError
	if errors.As(json.Unmarshal(rest, new(json.RawMessage)), &again) {
		offset += max(0, again.Offset-1)
	}
	return offset
}

func (s *stream) endsEarly() error {
	return fmt.Errorf("JSON ends early, at byte %d", s.source.read)
}

func describe(token json.Token) string {
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return "a list"
		}
		return "an object"
	case nil:
		return "null"
	case float64:
		return "a number"
	}
	return fmt.Sprintf("a %T", token)
}

type tooLarge struct{ most int64 }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("more than %d MiB in one value are not of Kubernetes", e.most>>20)
}

// boundedReader fails when more is read than was allowed.
type boundedReader struct {
	r                 io.Reader
	read, limit, most int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.read >= b.limit {
		return 0, &tooLarge{b.most}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.limit-b.read)])
	b.read += int64(n)
	return n, err
}
