package offline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	v2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"github.com/cedesched/cede/examples/internal/input"
)

// Objects are objects of a cluster as its API server would have them: each in the version that kube-scheduler reads, with
// its defaults. The zero value has none.
type Objects struct {
	all  map[string][]runtime.Object // by kind, in the order of the input
	at   map[string]int              // where an object is, by kind and ID
	Odd  []Odd
	seen map[string]int // Odd by kind and text
}

// Odd is what is not known of objects of the input.
type Odd struct {
	// Object is the kind and ID of the first of them: "Pod team/job".
	Object string
	// Path is a field that Kubernetes 1.37 does not have; empty: the object cannot be read.
	Path string
	// Text says in a few words what is odd.
	Text string
	// More is how many objects have the same.
	More int
}

// Add takes an object of the input; a later one takes the place of an earlier. An error leaves that object out. It is
// [input.ErrNotRead] for a kind on which kube-scheduler does not depend.
func (o *Objects) Add(in *input.Object) error {
	group, version, name := in.Group(), in.Version(), in.Kind
	known, isRead := kindOf(group, name)
	if !isRead {
		if like := likeKind(in.Kind); like != "" {
			return o.odd(like+" "+in.ID(), "", fmt.Errorf("%q of %q is not a kind that is known", in.Kind, in.APIVersion))
		}
		return input.ErrNotRead
	}
	if kinds[known] && in.Metadata.Namespace == "" {
		in.Metadata.Namespace = metav1.NamespaceDefault // as a manifest goes there
	}
	if !kinds[known] {
		in.Metadata.Namespace = ""
	}
	what := name + " " + in.ID()
	if in.Deleted {
		o.Remove(name, in.ID())
		return nil
	}
	if in.Fault != nil {
		return o.odd(what, "", in.Fault)
	}
	object, unknown, err := decode(schema.GroupVersionKind{Group: group, Version: version, Kind: name}, known, whole(in))
	if err != nil {
		return o.odd(what, "", err)
	}
	for _, path := range unknown {
		_ = o.odd(what, path, errors.New("is not a field of Kubernetes 1.37"))
	}
	return o.Put(object, in.Metadata.Namespace)
}

// Lose takes what has no name or kind that can be read; see [input.Options].
func (o *Objects) Lose(in *input.Object, why error) {
	if _, isRead := kindOf(in.Group(), in.Kind); isRead || in.Kind == "" || likeKind(in.Kind) != "" {
		_ = o.odd(cmp.Or(in.Kind, "an object"), "", why)
	}
}

// odd keeps what is odd, and returns it as an error.
func (o *Objects) odd(object, path string, why error) error {
	kind, _, _ := strings.Cut(object, " ")
	one := Odd{Object: object, Path: path, Text: strings.Join(strings.Fields(why.Error()), " ")}
	if o.seen == nil {
		o.seen = map[string]int{}
	}
	key := kind + " " + path
	if path == "" {
		key = object + " " + one.Text
	}
	if i, before := o.seen[key]; before {
		o.Odd[i].More++
	} else {
		o.seen[key] = len(o.Odd)
		o.Odd = append(o.Odd, one)
	}
	return errors.New(one.Text)
}

// Put adds an object that has its defaults already.
func (o *Objects) Put(object runtime.Object, namespace string) error {
	gvk, _, err := scheme.ObjectKinds(object)
	if err != nil {
		return err
	}
	meta := object.(metav1.Object)
	meta.SetNamespace(namespace)
	meta.SetManagedFields(nil)
	kind, id := gvk[0].Kind, idOf(meta)
	if meta.GetUID() == "" { // the API server gives one
		meta.SetUID(types.UID(kind + " " + id))
	}
	if o.all == nil {
		o.all, o.at = map[string][]runtime.Object{}, map[string]int{}
	}
	if at, again := o.at[kind+" "+id]; again {
		o.all[kind][at] = object
		return input.ErrAgain
	}
	o.at[kind+" "+id] = len(o.all[kind])
	o.all[kind] = append(o.all[kind], object)
	return nil
}

// Remove removes an object.
func (o *Objects) Remove(kind, id string) {
	at, ok := o.at[kind+" "+id]
	if !ok {
		return
	}
	delete(o.at, kind+" "+id)
	o.all[kind] = slices.Delete(o.all[kind], at, at+1)
	for i, left := range o.all[kind][at:] {
		o.at[kind+" "+idOf(left.(metav1.Object))] = at + i
	}
}

// Clone returns objects of its own, which are the same: an object is replaced, never changed.
func (o *Objects) Clone() *Objects {
	all := make(map[string][]runtime.Object, len(o.all))
	for kind, list := range o.all {
		all[kind] = slices.Clone(list)
	}
	return &Objects{all: all, at: maps.Clone(o.at), Odd: slices.Clone(o.Odd), seen: maps.Clone(o.seen)}
}

// Len is the number of objects of a kind.
func (o *Objects) Len(kind string) int { return len(o.all[kind]) }

// Has reports whether there is an object of a kind with an ID: its name, after its namespace and a slash if it has one.
func (o *Objects) Has(kind, id string) bool {
	_, has := o.at[kind+" "+id]
	return has
}

// Get returns an object, nil if it is not there.
func (o *Objects) Get(kind, id string) runtime.Object {
	if at, has := o.at[kind+" "+id]; has {
		return o.all[kind][at]
	}
	return nil
}

// All are the objects of a kind, which have the type T.
func All[T any](o *Objects, kind string) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for _, object := range o.all[kind] {
			if !yield(object.(T)) {
				return
			}
		}
	}
}

// Pods are the pods that have not ended: kube-scheduler sees no others.
func (o *Objects) Pods() func(yield func(*v1.Pod) bool) {
	return func(yield func(*v1.Pod) bool) {
		for p := range All[*v1.Pod](o, "Pod") {
			if p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed && !yield(p) {
				return
			}
		}
	}
}

func idOf(m metav1.Object) string {
	if m.GetNamespace() == "" {
		return m.GetName()
	}
	return m.GetNamespace() + "/" + m.GetName()
}

// kindOf finds the version in which kube-scheduler reads a kind.
func kindOf(group, name string) (schema.GroupVersionKind, bool) {
	for gvk := range kinds {
		if gvk.Group == group && gvk.Kind == name {
			return gvk, true
		}
	}
	return schema.GroupVersionKind{}, false
}

// likeKind finds a kind that an object may be of: written in another case, without its group, or by its plural.
func likeKind(name string) string {
	for gvk := range kinds {
		if strings.EqualFold(gvk.Kind, name) || strings.EqualFold(gvk.Kind+"s", name) {
			return gvk.Kind
		}
	}
	return ""
}

// whole is the JSON of an object.
func whole(in *input.Object) []byte {
	var b bytes.Buffer
	b.Grow(len(in.Head) + len(in.Spec) + len(in.Status) + 64)
	open := byte('{')
	add := func(name string, value json.RawMessage) {
		if len(value) > 0 {
			b.WriteByte(open)
			fmt.Fprintf(&b, "%q:", name)
			b.Write(value)
			open = ','
		}
	}
	add("metadata", in.Head)
	add("spec", in.Spec)
	add("status", in.Status)
	for name, value := range in.Fields {
		add(name, value)
	}
	if open == '{' {
		return []byte("{}")
	}
	b.WriteByte('}')
	return b.Bytes()
}

var strict = v2.JoinOptions(v2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true))

// decode reads an object with its defaults, in the version that kube-scheduler reads. unknown are the fields that its own
// version does not have.
func decode(own, want schema.GroupVersionKind, data []byte) (object runtime.Object, unknown []string, err error) {
	if object, err = scheme.New(own); err != nil {
		return nil, nil, fmt.Errorf("version %q of %s is not known to Kubernetes 1.37", own.Version, own.Kind)
	}
	if v2.Unmarshal(data, object, strict) != nil { // what is it?
		object, _ = scheme.New(own)
		if err := input.Decode("", data, object); err != nil {
			return nil, nil, err
		}
		object, _ = scheme.New(own)
		faults, err := kjson.UnmarshalStrict(data, object)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range faults {
			if path, ok := strings.CutPrefix(f.Error(), "unknown field "); ok {
				unknown = append(unknown, strings.Trim(path, `"`))
			}
		}
	}
	scheme.Default(object)
	if own == want {
		return object, unknown, nil
	}
	hub, err := scheme.ConvertToVersion(object, schema.GroupVersion{Group: own.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, nil, err
	}
	object, err = scheme.ConvertToVersion(hub, want.GroupVersion())
	return object, unknown, err
}
