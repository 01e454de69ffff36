package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// stream reads JSON value by value, each of bounded size, and says where it fails. It passes over
// each byte once.
type stream struct {
	source  boundedReader
	decoder *jsontext.Decoder
	line    int               // of YAML that it was made of
	words   map[string]string // as they stand in the input
}

// lax reads what encoding/json reads: text that is not UTF-8, and names that are there twice.
var lax = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func newStream(in io.Reader) *stream {
	s := &stream{source: boundedReader{r: in}, words: map[string]string{}}
	s.decoder = jsontext.NewDecoder(&s.source, lax...)
	return s
}

// at is where the stream is.
func (s *stream) at() string {
	if s.line > 0 {
		return fmt.Sprintf("line %d", s.line)
	}
	return fmt.Sprintf("byte %d", s.decoder.InputOffset())
}

// bound lets the next token or value have so many bytes.
func (s *stream) bound(limit int64) {
	s.source.limit, s.source.most = s.decoder.InputOffset()+limit, limit
}

// peek is the kind of the next token: that of its first byte, '0' for numbers. It is zero where
// the next read fails.
func (s *stream) peek() jsontext.Kind {
	s.bound(maxObject)
	return s.decoder.PeekKind()
}

// token reads a token. io.EOF: there is none.
func (s *stream) token() (jsontext.Kind, error) {
	s.bound(maxObject)
	token, err := s.decoder.ReadToken()
	if err != nil {
		return 0, s.explain(err)
	}
	return token.Kind(), nil
}

// next reads a value, or the name of a field. It is overwritten by the next read.
func (s *stream) next(limit int64) (jsontext.Value, error) {
	s.bound(limit)
	value, err := s.decoder.ReadValue()
	return value, s.explain(err)
}

// word is the text of a string. Short ones are kept: most of them are names of fields, and kinds.
func (s *stream) word(quoted jsontext.Value) string {
	if word, ok := s.words[string(quoted)]; ok {
		return word
	}
	unquoted, _ := jsontext.AppendUnquote(nil, quoted) // it was read, so it is a string
	word := string(unquoted)
	if len(s.words) < maxWords && len(quoted) < 64 {
		s.words[string(quoted)] = word
	}
	return word
}

// skip goes to the end of the next value.
func (s *stream) skip() error {
	s.bound(maxObject)
	return s.explain(s.decoder.SkipValue())
}

// raw reads a value to keep.
func (s *stream) raw(limit int64) (json.RawMessage, error) {
	value, err := s.next(limit)
	return json.RawMessage(value.Clone()), err
}

// explain says where an error of the decoder is. io.EOF stays as it is.
func (s *stream) explain(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var syntax *jsontext.SyntacticError
	var large *tooLarge
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.endsEarly()
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: byte %d: %w", syntax.ByteOffset, syntax.Err)
	case errors.As(err, &large):
		return fmt.Errorf("%s: %w", s.at(), large)
	case s.source.failed != nil:
		return s.source.failed // without what the decoder says before it
	}
	return err
}

func (s *stream) endsEarly() error {
	return fmt.Errorf("JSON ends early, at byte %d", s.source.read)
}

func describe(kind jsontext.Kind) string {
	switch kind {
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 'n':
		return "null"
	case '0':
		return "a number"
	case '"':
		return "a string"
	}
	return "a bool"
}

type tooLarge struct{ most int64 }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("more than %d MiB in one value are not of Kubernetes", e.most>>20)
}

// boundedReader fails when more is read than was allowed.
type boundedReader struct {
	r                 io.Reader
	read, limit, most int64
	failed            error // by the reader
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.read >= b.limit {
		return 0, &tooLarge{b.most}
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.limit-b.read)])
	b.read += int64(n)
	if err != nil && err != io.EOF {
		b.failed = err
	}
	return n, err
}
