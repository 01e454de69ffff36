package input

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

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
	// Watched says that the object is of the events of a watch: a later one takes the place
	// of an earlier. Deleted: the object is gone.
	Watched, Deleted bool

	// Fault is what of its head cannot be read: a time of its metadata. Such an object is left out, but
	// the visitor sees it before.
	Fault error
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

// set takes a field of the object in.
func (o *Object) set(key string, data json.RawMessage) {
	again := o.Fields[key] != nil
	switch key {
	case "apiVersion":
		again = o.APIVersion != ""
		o.Fault = errors.Join(o.Fault, Decode(key, data, &o.APIVersion))
	case "kind":
		again = o.Kind != ""
		o.Fault = errors.Join(o.Fault, Decode(key, data, &o.Kind))
	case "metadata":
		again, o.Head = o.Head != nil, data
		o.metadata()
	case "spec":
		again, o.Spec = o.Spec != nil, data
	case "status":
		again, o.Status = o.Status != nil, data
	default:
		if o.Fields == nil {
			o.Fields = map[string]json.RawMessage{}
		}
		o.Fields[key] = data
	}
	if again && !slices.Contains(o.Twice, key) {
		o.Twice = append(o.Twice, key)
	}
}

// metadata reads the metadata of an object as far as they can be read: its name above all.
func (o *Object) metadata() {
	o.Metadata = Metadata{}
	err := Decode("metadata", o.Head, &o.Metadata)
	if err == nil {
		return
	}
	o.Fault = errors.Join(o.Fault, err)
	var whole struct{ Spec Metadata }
	part := Object{Spec: o.Head}
	part.ReadEach(&whole.Spec, nil)
	o.Metadata = whole.Spec
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
