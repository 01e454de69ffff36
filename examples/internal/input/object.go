package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v2 "github.com/go-json-experiment/json"

	"github.com/cedesched/cede/examples/bridge"
)

// Object is one object of the input. What a decision depends on is read later, when the
// kind is known.
type Object struct {
	APIVersion, Kind string
	Metadata         Metadata
	Spec, Status     json.RawMessage
	// Fields are the other fields of the object: the value of a priority class, the data
	// of a config map.
	Fields map[string]json.RawMessage
	// Head is the metadata as it stands.
	Head json.RawMessage
	// Twice are paths of fields that the object has more than once, of YAML all, else those of its own;
	// the last one counts.
	Twice []string
	seen  uint8 // which of headNames it has
	// Watched says that the object is of the events of a watch: a later one takes the place
	// of an earlier. Deleted: the object is gone.
	Watched, Deleted bool

	// Fault is what of its head cannot be read: a time of its metadata. Such an object is left out, but
	// the visitor sees it before.
	Fault error
}

// headNames are the fields that an object has beside Fields.
var headNames = []string{"apiVersion", "kind", "metadata", "spec", "status"}

// meet notes a field that is there for the second time.
func (o *Object) meet(name string) {
	again := o.Fields[name] != nil
	if i := slices.Index(headNames, name); i >= 0 {
		again = o.seen&(1<<i) != 0
		o.seen |= 1 << i
	}
	if again && !slices.Contains(o.Twice, name) {
		o.Twice = append(o.Twice, name)
	}
}

// Metadata is that of an object.
type Metadata = bridge.Metadata

// ID is that of the metadata.
func (o *Object) ID() string { return o.Metadata.ID() }

// Group is the API group, "" for the core.
func (o *Object) Group() string {
	group, _, found := strings.Cut(o.APIVersion, "/")
	if !found {
		return ""
	}
	return group
}

// Version is the API version without its group.
func (o *Object) Version() string { return o.APIVersion[strings.LastIndex(o.APIVersion, "/")+1:] }

// Key tells objects apart.
func (o *Object) Key() string { return o.Group() + " " + o.Kind + " " + o.ID() }

// Read fills spec and status. What is absent or null, and what is nil here, stays as it is.
func (o *Object) Read(spec, status any) error {
	if spec != nil {
		if err := Decode("spec", o.Spec, spec); err != nil {
			return err
		}
	}
	if status == nil {
		return nil
	}
	return Decode("status", o.Status, status)
}

// Field reads another field of the object; one that is absent or null leaves into as it is.
func (o *Object) Field(name string, into any) error { return Decode(name, o.Fields[name], into) }

// set takes a field of the object in that is read later.
func (o *Object) set(key string, data json.RawMessage) {
	switch key {
	case "spec":
		o.Spec = data
	case "status":
		o.Status = data
	default:
		if o.Fields == nil {
			o.Fields = map[string]json.RawMessage{}
		}
		o.Fields[key] = data
	}
}

// name reads the name of a field.
func (s *stream) name() (string, error) {
	name, err := s.next(maxObject)
	if err != nil {
		return "", err
	}
	return s.word(name), nil
}

// text reads a field that is a string.
func (s *stream) text(o *Object, name string, into *string) error {
	switch kind := s.peek(); kind {
	case '"':
		value, err := s.next(maxObject)
		if err == nil {
			*into = s.word(value)
		}
		return err
	case 'n', 0:
	default:
		o.Fault = errors.Join(o.Fault, fmt.Errorf("%s: want a string, found %s", name, describe(kind)))
	}
	return s.skip()
}

// metadata reads that of an object, as far as it can be read: its name above all.
func (s *stream) metadata(o *Object) error {
	data, err := s.next(maxObject)
	if err != nil {
		return err
	}
	o.Head = json.RawMessage(data.Clone())
	var m Metadata
	if v2.Unmarshal(data, &m, asV1) == nil {
		o.Metadata = m
		return nil
	}
	var times struct {
		Metadata
		CreationTimestamp json.RawMessage `json:"creationTimestamp"`
		DeletionTimestamp json.RawMessage `json:"deletionTimestamp"`
	}
	var mismatch *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &times); {
	case errors.As(err, &mismatch):
		path := strings.TrimSuffix("metadata."+strings.TrimPrefix(mismatch.Field, "Metadata."), ".")
		o.Fault = errors.Join(o.Fault, fmt.Errorf("%s: want %s, found %s", path, describeType(mismatch.Type), mismatch.Value))
	case err != nil:
		return err
	}
	o.Metadata = times.Metadata
	o.Fault = errors.Join(o.Fault,
		Decode("metadata.creationTimestamp", times.CreationTimestamp, &o.Metadata.CreationTimestamp),
		Decode("metadata.deletionTimestamp", times.DeletionTimestamp, &o.Metadata.DeletionTimestamp))
	return nil
}

// size is about what the object holds in memory.
func (o *Object) size() int {
	n := 256 + len(o.Spec) + len(o.Status)
	for _, f := range o.Fields {
		n += len(f)
	}
	return n
}

// what names an object in a message.
func (o *Object) what() string {
	switch {
	case o.Metadata.Name == "" && o.Kind == "":
		return ""
	case o.Metadata.Name == "":
		return o.Kind
	case o.Kind == "":
		return o.ID()
	}
	return o.Kind + " " + o.ID()
}
