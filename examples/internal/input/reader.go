package input

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// reader walks through sources and hands their objects out.
type reader struct {
	options Options
	visit   func(*Object) error
	many    bool // sources

	source           string
	items            int // objects of the source so far
	used, odd, spare int
	counted          int
	last             *Object  // the object that was handed out last
	twice            []string // fields of the YAML that is read that are there twice
	first            error    // why the first object that was left out was
	lines            []string
	groups           map[string]*group
	order            []*group
}

// group is objects that were left out for the same reason.
type group struct {
	first  string
	reason string
	count  int
}

// list is what the items of a list have from it.
type list struct {
	apiVersion, kind string
	held             []*Object // that come before its kind
	size             int
	late             bool // its kind may still come
}

// read reads a source.
func (r *reader) read(source io.Reader) error {
	in, err := plain(source)
	if err != nil {
		return err
	}
	switch start, err := skipBlanks(in); {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case err != nil:
		return err
	case start == '[' || start == '{' && !isFlow(in):
		return r.json(in)
	}
	return r.yaml(in)
}

// skipBlanks goes to the first byte that is none and returns it.
func skipBlanks(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, in.UnreadByte()
		}
	}
}

// isFlow reports whether an object is YAML: its first name has no double quotes.
func isFlow(in *bufio.Reader) bool {
	start, _ := in.Peek(256)
	start = bytes.TrimLeft(start[1:], " \t\r\n")
	return len(start) > 0 && start[0] != '"' && start[0] != '}'
}

// json reads documents one after the other. YAML may follow after "---".
func (r *reader) json(in *bufio.Reader) error {
	s := newStream(in)
	for {
		err := r.value(s, nil, 0)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			continue
		}
		rest := bytes.TrimLeft(s.decoder.UnreadBuffer(), " \t\r\n")
		if s.decoder.StackDepth() == 0 && bytes.HasPrefix(rest, []byte("---")) {
			return r.yaml(bufio.NewReaderSize(io.MultiReader(bytes.NewReader(rest), in), 1<<16))
		}
		return err
	}
}

// value reads a value of JSON in which there are objects: one, or a list of them. in is the
// list that it stands in, nil for a document. io.EOF: there is no further document.
func (r *reader) value(s *stream, in *list, depth int) error {
	kind, err := s.token()
	switch {
	case err != nil:
		return err
	case kind == '[':
		return r.array(s, new(list), depth+1)
	case kind == '{':
		o, err := r.object(s, in, depth)
		if err != nil || o == nil {
			return err
		}
		return r.emit(o, in)
	case in == nil:
		return fmt.Errorf("%s: want a Kubernetes object, found %s", s.at(), describe(kind))
	}
	r.items++
	return r.leaveOutOdd(new(Object), fmt.Errorf("want a Kubernetes object, found %s", describe(kind)))
}

// leaveOutOdd leaves out what is no object of Kubernetes. A bounded number of these is.
func (r *reader) leaveOutOdd(o *Object, err error) error {
	if r.odd++; r.odd > maxOdd {
		return fmt.Errorf("more than %d items without kind: these are not Kubernetes objects", maxOdd)
	}
	r.lost(o, err)
	return r.leaveOut(o, err)
}

// lost tells that an object is left out that the visitor did not see.
func (r *reader) lost(o *Object, why error) {
	if r.options.Lost != nil {
		r.options.Lost(o, errors.New(oneLine(fmt.Sprintf("%s: %v", r.place(o), why))))
	}
}

func errTooDeep(s *stream) error {
	return fmt.Errorf("%s: lists in lists to a depth of more than %d", s.at(), maxDepth)
}

// array reads values up to the closing bracket.
func (r *reader) array(s *stream, in *list, depth int) error {
	if depth > maxDepth {
		return errTooDeep(s)
	}
	for s.peek() != ']' {
		if err := r.value(s, in, depth); err != nil {
			return err
		}
	}
	_, err := s.token()
	return err
}

// object reads the rest of an object; a list hands its items out and is nil then.
func (r *reader) object(s *stream, in *list, depth int) (*Object, error) {
	if depth > maxDepth {
		return nil, errTooDeep(s)
	}
	var o, watched Object
	var items *list
	isEvent := false
	for s.peek() != '}' {
		key, err := s.name()
		if err != nil {
			return nil, err
		}
		o.meet(key)
		switch {
		case key == "items" && (o.Kind == "" || strings.HasSuffix(o.Kind, "List")):
			items = &list{apiVersion: o.APIVersion, kind: o.Kind, late: o.Kind == "" || o.APIVersion == ""}
			err = r.listed(s, &o, items, depth)
		case key == "object" && o.Kind == "":
			if s.peek() != '{' {
				err = s.skip()
				break
			}
			_, _ = s.token() // the brace
			var inner *Object
			inner, err = r.object(s, nil, depth+1)
			if isEvent = inner != nil; isEvent {
				watched = *inner
			}
		case key == "apiVersion":
			err = s.text(&o, key, &o.APIVersion)
		case key == "kind":
			err = s.text(&o, key, &o.Kind)
		case key == "metadata":
			err = s.metadata(&o)
		default:
			limit := int64(maxObject)
			if depth == 0 && in == nil && o.Kind == "" && len(r.options.Keys) > 0 {
				limit = maxDocument
			}
			var data json.RawMessage
			data, err = s.raw(limit)
			o.set(key, data)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := s.token(); err != nil { // the closing brace
		return nil, err
	}
	switch {
	case isEvent:
		return event(&o, &watched), nil
	case items != nil:
		return nil, r.release(items, &o)
	}
	return &o, nil
}

// listed reads the items of a list.
func (r *reader) listed(s *stream, o *Object, items *list, depth int) error {
	switch kind := s.peek(); kind {
	case '[':
		_, _ = s.token() // the bracket
		return r.array(s, items, depth+1)
	case 'n', 0: // an empty list may be null
	default:
		o.Fault = fmt.Errorf("items: want a list, found %s", describe(kind))
	}
	return s.skip()
}

// release hands out the items that came before the kind of their list.
func (r *reader) release(items *list, o *Object) error {
	if o.Fault != nil {
		r.items++
		r.lost(o, o.Fault)
		return r.leaveOut(o, o.Fault)
	}
	items.apiVersion, items.kind, items.late = o.APIVersion, o.Kind, false
	for i, held := range items.held {
		items.held[i] = nil
		if err := r.emit(held, items); err != nil {
			return err
		}
	}
	return nil
}

// event is the object of an event of a watch.
func event(o, watched *Object) *Object {
	var kind string
	if watched.Fault == nil {
		watched.Fault = o.Field("type", &kind)
	}
	watched.Watched, watched.Deleted = true, kind == "DELETED"
	if kind == "BOOKMARK" {
		return nil
	}
	return watched
}

// emit hands an object out, or keeps it until its list says what it is.
func (r *reader) emit(o *Object, in *list) error {
	if in != nil && o.Kind == "" && o.Fault == nil {
		if of, ok := strings.CutSuffix(in.kind, "List"); ok && of != "" && !(in.late && in.apiVersion == "") {
			o.Kind = of
			if o.APIVersion == "" {
				o.APIVersion = in.apiVersion
			}
		} else if in.late {
			in.held = append(in.held, o)
			if in.size += o.size(); in.size > maxHeld {
				return fmt.Errorf("the kind of a list stands after more than %d MiB of items that have none: put it first", maxHeld>>20)
			}
			return nil
		}
	}
	r.items++
	r.last = o
	o.Twice = append(o.Twice, r.twice...) // of the YAML that it was read from
	r.twice = nil
	switch {
	case o.Fault != nil:
		if o.Kind != "" && o.Metadata.Name != "" {
			_ = r.visit(o) // it keeps what it needs
		} else {
			r.lost(o, o.Fault)
		}
		return r.leaveOut(o, o.Fault)
	case o.Kind == "Status" && o.APIVersion == "v1":
		var message string
		_ = o.Field("message", &message)
		err := fmt.Errorf("an answer of the API server, not an object: %s", message)
		r.lost(o, err)
		return r.leaveOut(o, err)
	case o.Kind == "" && in == nil && slices.ContainsFunc(r.options.Keys, func(key string) bool { return o.Fields[key] != nil }):
	case o.Kind == "":
		return r.leaveOutOdd(o, errors.New("no kind: not a Kubernetes object"))
	case o.Metadata.Name == "" && !slices.Contains(r.options.Nameless, o.Kind):
		err := errors.New("no metadata.name")
		r.lost(o, err)
		return r.leaveOut(o, err)
	}
	err := r.visit(o)
	switch {
	case err == nil:
		r.used++
		return nil
	case errors.Is(err, ErrAgain):
		r.used++
		if o.Watched {
			return nil
		}
		return r.count(err, o, "")
	case errors.Is(err, ErrNotRead):
		r.keepFirst(fmt.Errorf("%s: unknown kind %s of %q", r.place(o), o.Kind, o.APIVersion))
		return r.count(err, o, o.APIVersion+" "+o.Kind)
	}
	return r.leaveOut(o, err)
}
