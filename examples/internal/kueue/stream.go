package kueue

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxObject bounds one object, and so what is held in memory of input that may be
// anything. An API server stores no object of a tenth of it.
const maxObject = 16 << 20

// object is any object; spec and status are read later, when the kind is known.
type object struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   metadata        `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
	Status     json.RawMessage `json:"status"`
}

type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	Annotations       map[string]string `json:"annotations"`
}

// stream reads objects out of JSON of any of the accepted shapes.
type stream struct {
	source  boundedReader
	decoder *json.Decoder
	visit   func(*object) error
	items   int // objects so far
}

// eachObject calls visit with every object of the input. Errors name the object's
// place: the first is item 1.
func eachObject(r io.Reader, visit func(*object) error) error {
	s := &stream{source: boundedReader{r: r}, visit: visit}
	s.decoder = json.NewDecoder(&s.source)
	documents := 0
	for ; ; documents++ {
		token, err := s.token()
		switch {
		case errors.Is(err, io.EOF) && documents > 0:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the input is empty")
		case err != nil:
			return err
		case token == json.Delim('{'):
			err = s.document()
		case token == json.Delim('['):
			err = s.list("", "")
		default:
			err = fmt.Errorf("byte %d: want a Kubernetes object, found %v", s.decoder.InputOffset(), describe(token))
		}
		if errors.Is(err, io.EOF) {
			return s.endsEarly()
		}
		if err != nil {
			return err
		}
	}
}

// document reads the rest of a top-level object: a list, or a single object.
func (s *stream) document() error {
	var o object
	isList := false
	for s.decoder.More() {
		key, err := s.token()
		if err != nil {
			return err
		}
		var ignored json.RawMessage
		into := any(&ignored)
		switch key {
		case "apiVersion":
			into = &o.APIVersion
		case "kind":
			into = &o.Kind
		case "metadata":
			into = &o.Metadata
		case "spec":
			into = &o.Spec
		case "status":
			into = &o.Status
		case "items":
			isList = true
			switch token, err := s.token(); {
			case err != nil:
				return err
			case token == nil: // an empty list may be null
			case token != json.Delim('['):
				return fmt.Errorf("byte %d: items: want a list, found %v", s.decoder.InputOffset(), describe(token))
			default:
				if err := s.list(o.APIVersion, o.Kind); err != nil {
					return err
				}
			}
			continue
		}
		if err := s.decode(into); err != nil {
			return err
		}
	}
	if _, err := s.token(); err != nil { // the closing brace
		return err
	}
	if isList {
		return nil
	}
	return s.emit(&o)
}

// list reads objects up to the closing bracket. Lists straight from an API server
// name the kind once, for the list.
func (s *stream) list(apiVersion, kind string) error {
	for s.decoder.More() {
		o := object{}
		if err := s.decode(&o); err != nil {
			return err
		}
		if of, ok := strings.CutSuffix(kind, "List"); ok && of != "" && o.Kind == "" {
			o.APIVersion, o.Kind = apiVersion, of
		}
		if err := s.emit(&o); err != nil {
			return err
		}
	}
	_, err := s.token()
	return err
}

func (s *stream) emit(o *object) error {
	s.items++
	err := s.visit(o)
	switch {
	case err == nil:
		return nil
	case o.Metadata.Name == "":
		return fmt.Errorf("item %d: %w", s.items, err)
	}
	return fmt.Errorf("item %d (%s): %w", s.items, o.id(), err)
}

func (s *stream) token() (json.Token, error) {
	s.source.allow(s.decoder.InputOffset() + maxObject)
	token, err := s.decoder.Token()
	return token, s.explain(err)
}

func (s *stream) decode(into any) error {
	s.source.allow(s.decoder.InputOffset() + maxObject)
	return s.explain(s.decoder.Decode(into))
}

// explain says where an error of the decoder is. io.EOF stays as it is.
func (s *stream) explain(err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.endsEarly()
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: byte %d: %w", s.offsetOf(syntax), err)
	case errors.As(err, &mismatch):
		return fmt.Errorf("item %d: %w", s.items+1, explainMismatch(mismatch))
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("byte %d: %w", s.decoder.InputOffset(), err)
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

func explainMismatch(err *json.UnmarshalTypeError) error {
	return fmt.Errorf("%s: want %v, found %s", err.Field, err.Type, err.Value)
}

func describe(token json.Token) string {
	switch token.(type) {
	case json.Delim:
		return fmt.Sprint(token)
	case nil:
		return "null"
	}
	return fmt.Sprintf("a %T", token)
}

var errTooLarge = fmt.Errorf("an object of more than %d MiB is not of Kubernetes", maxObject>>20)

// boundedReader fails when more is read than was allowed.
type boundedReader struct {
	r           io.Reader
	read, limit int64
}

func (b *boundedReader) allow(limit int64) { b.limit = limit }

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.read >= b.limit {
		return 0, errTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.limit-b.read)])
	b.read += int64(n)
	return n, err
}
