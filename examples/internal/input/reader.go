package input

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	v2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reader walks through sources and hands their objects out.
type reader struct {
	options Options
	visit   func(*Object) error
	many    bool // sources
	text    *bounded
	twice   []jsontext.Pointer // fields that the document of YAML has twice

	source string
	items  int      // objects of the source so far
	used   int      // objects that the visitor took
	last   *Object  // the object that was handed out last
	first  error    // why the first object that was left out was
	lines  []string // notes
	out    int      // objects that were left out
	more   int      // those among them without a note
	groups []*group
}

// list is what the items of a list have from it.
type list struct {
	apiVersion, kind string
	held             []*Object // that stand before its kind
}

// read reads a source.
func (r *reader) read(source io.Reader) error {
	text, err := Text(source)
	if err != nil {
		return err
	}
	r.text = &bounded{r: text, left: maxObject}
	in := bufio.NewReader(r.text)
	for {
		start, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return errors.New("it is empty")
		case err != nil:
			return err
		case strings.IndexByte(" \t\r\n", start) >= 0:
			continue
		}
		_ = in.UnreadByte()
		if start == '[' || start == '{' && !isFlow(in) {
			err = r.json(in)
		} else {
			err = r.yaml(in)
		}
		if r.text.failed != nil {
			return r.text.failed // without what the decoders say before it
		}
		return err
	}
}

// isFlow reports whether an object is flow style of YAML: its first name has no double quotes.
func isFlow(in *bufio.Reader) bool {
	next, _ := in.Peek(256)
	next = bytes.TrimLeft(next[1:], " \t\r\n")
	return len(next) > 0 && next[0] != '"' && next[0] != '}'
}

// lax reads text that is not UTF-8, and names that are there twice: the last one counts, and is told.
var lax = v2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// json reads values one after the other. YAML may follow after "---".
func (r *reader) json(in io.Reader) error {
	d := jsontext.NewDecoder(in, lax)
	for {
		switch err := r.value(d, nil); {
		case err == io.EOF:
			return nil
		case err == nil:
		case d.StackDepth() == 0 && bytes.HasPrefix(bytes.TrimLeft(d.UnreadBuffer(), " \t\r\n"), []byte("-")):
			rest := bufio.NewReader(io.MultiReader(bytes.NewReader(bytes.TrimLeft(bytes.Clone(d.UnreadBuffer()), " \t\r\n")), in))
			if mark, _ := rest.Peek(3); string(mark) == "---" { // the buffer may end in the mark
				return r.yaml(rest)
			}
			return err
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("JSON ends early, at byte %d", d.InputOffset()+int64(len(d.UnreadBuffer())))
		default:
			return err
		}
	}
}

// value reads a value in which there are objects: one, or a list of them. in is the list that it stands in, nil for a
// document. io.EOF: no further document follows.
func (r *reader) value(d *jsontext.Decoder, in *list) error {
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return syntaxError(err)
	case token.Kind() == '[':
		return r.array(d, new(list))
	case token.Kind() == '{':
		at := d.StackPointer()
		o, err := r.object(d, in)
		if err != nil || o == nil {
			return err
		}
		for _, path := range r.twice {
			if at.Contains(path) {
				o.Twice = append(o.Twice, pathOf(path[len(at):]))
			}
		}
		return r.emit(o, in)
	case in == nil:
		return fmt.Errorf("want a Kubernetes object, found %s", describe(token.Kind()))
	}
	return r.emit(&Object{Fault: fmt.Errorf("want a Kubernetes object, found %s", describe(token.Kind()))}, nil)
}

// array reads values up to the closing bracket.
func (r *reader) array(d *jsontext.Decoder, in *list) error {
	for d.PeekKind() != ']' {
		if err := r.value(d, in); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// object reads the rest of an object; a list hands its items out and is nil then.
func (r *reader) object(d *jsontext.Decoder, in *list) (*Object, error) {
	var o Object
	var watched *Object
	var items *list
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, syntaxError(err)
		}
		key := name.String()
		switch kind := d.PeekKind(); {
		case key == "items" && kind == '[' && (o.Kind == "" || strings.HasSuffix(o.Kind, "List")):
			items = &list{apiVersion: o.APIVersion, kind: o.Kind}
			_, _ = d.ReadToken() // the bracket
			err = r.array(d, items)
		case key == "object" && kind == '{' && o.Kind == "":
			_, _ = d.ReadToken() // the brace
			watched, err = r.object(d, nil)
		default:
			var value jsontext.Value
			if value, err = d.ReadValue(); err == nil {
				o.set(key, json.RawMessage(value.Clone()))
			}
		}
		if err != nil {
			return nil, syntaxError(err)
		}
	}
	if _, err := d.ReadToken(); err != nil { // the closing brace
		return nil, syntaxError(err)
	}
	switch {
	case watched != nil:
		return event(&o, watched), nil
	case items != nil:
		return nil, r.release(items, &o)
	}
	if held := o.Fields["items"]; held != nil && (o.Kind == "" || strings.HasSuffix(o.Kind, "List")) {
		if string(held) == "null" { // an empty list
			return nil, nil
		}
		o.Fault = fmt.Errorf("items: want a list, found %s", describe(jsontext.Value(held).Kind()))
	}
	return &o, nil
}

// syntaxError says where the text is no JSON.
func syntaxError(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("not JSON: byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	return err
}

// release hands out the items that came before the kind of their list.
func (r *reader) release(items *list, o *Object) error {
	if o.Fault != nil {
		return r.emit(o, nil)
	}
	of := list{apiVersion: o.APIVersion, kind: cmp.Or(o.Kind, "?")}
	for _, held := range items.held {
		if err := r.emit(held, &of); err != nil {
			return err
		}
	}
	return nil
}

// event is the object of an event of a watch; nil for a bookmark.
func event(o, watched *Object) *Object {
	var kind string
	watched.Fault = errors.Join(watched.Fault, o.Field("type", &kind))
	watched.Watched, watched.Deleted = true, kind == "DELETED"
	if kind == "BOOKMARK" {
		return nil
	}
	return watched
}

// emit hands an object out, or keeps it until its list says what it is.
func (r *reader) emit(o *Object, in *list) error {
	if in != nil && o.Kind == "" && o.Fault == nil {
		if in.kind == "" {
			in.held = append(in.held, o) // all of them are bounded as one object is
			return nil
		}
		if of, ok := strings.CutSuffix(in.kind, "List"); ok && of != "" {
			o.Kind, o.APIVersion = of, cmp.Or(o.APIVersion, in.apiVersion)
		}
	}
	r.items++
	r.last, r.text.left = o, maxObject
	isOwn := o.Kind == "" && in == nil && slices.ContainsFunc(r.options.Keys, func(key string) bool { return o.Fields[key] != nil })
	var err error
	switch {
	case o.Fault != nil:
		if o.Kind != "" && o.Metadata.Name != "" {
			_ = r.visit(o) // it keeps what it needs
			return r.leaveOut(o, o.Fault)
		}
		err = o.Fault
	case o.Kind == "Status" && o.APIVersion == "v1":
		var message string
		_ = o.Field("message", &message)
		err = fmt.Errorf("an answer of the API server, not an object: %s", message)
	case o.Kind == "" && !isOwn:
		err = errors.New("no kind: not a Kubernetes object")
	case o.Metadata.Name == "" && !isOwn && !slices.Contains(r.options.Nameless, o.Kind):
		err = errors.New("no metadata.name")
	default:
		return r.handOut(o)
	}
	if r.options.Lost != nil {
		r.options.Lost(o, errors.New(oneLine(fmt.Sprintf("%s: %v", r.place(o), err))))
	}
	return r.leaveOut(o, err)
}

func (r *reader) handOut(o *Object) error {
	switch err := r.visit(o); {
	case err == nil:
		r.used++
		return nil
	case errors.Is(err, ErrAgain):
		r.used++
		if o.Watched {
			return nil
		}
		return r.count(o, err.Error())
	case errors.Is(err, ErrNotRead):
		r.keepFirst(fmt.Errorf("%s: unknown kind %s of %q", r.place(o), o.Kind, o.APIVersion))
		if o.APIVersion == "" {
			return r.count(o, o.Kind+" without apiVersion is not read here")
		}
		return r.count(o, fmt.Sprintf("%s of %s is not read here", o.Kind, o.APIVersion))
	default:
		return r.leaveOut(o, err)
	}
}
