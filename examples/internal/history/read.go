package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
)

// History is what is known of a cluster over time. Make it with [Read].
type History struct {
	First, Last time.Time // the first and the last instant that it tells of
	Notes       []string  // on what was left out
	// Lacks says why some of what held quota may not be in the history; empty: nothing shows that.
	Lacks string
	// Skew is by how much the clocks behind it may differ: times that are as near have no order. Zero: seconds are true.
	Skew time.Duration

	Pods *Pods // what it tells of pods

	lives  map[string]*life // by UID
	byID   map[string][]*life
	sorted []*life // by UID
	config map[string][]setting
	named  []string // the keys of config, sorted
	told   []sign   // of Events, whose workload may come later
	listed bool     // there is a Workload that is not of an audit log
}

// Read reads a history. It fails on what cannot be read, and on one without Workloads and Pods; an odd object is left out, with a
// note.
func Read(sources []input.Source, skew time.Duration) (*History, error) {
	h := &History{Skew: skew, lives: map[string]*life{}, byID: map[string][]*life{}, config: map[string][]setting{}}
	h.Pods = &Pods{together: together + skew, ahead: ahead + skew, lives: map[string]*podLife{}, byID: map[string][]*podLife{}, nodes: map[string][]nodeVersion{}, rest: map[string][]restVersion{}}
	for i := range sources {
		h.begin(&sources[i])
	}
	notes, err := input.Read(sources, input.Options{Nameless: slices.Concat(read.Nameless, []string{"Event"})}, h.visit)
	switch {
	case err != nil && len(h.lives)+len(h.Pods.lives) > 0 && strings.Contains(err.Error(), "ends early"):
		notes = append(notes, fmt.Sprintf("%v: what was to follow is not known", err))
	case err != nil:
		return nil, err
	}
	if len(h.lives)+len(h.Pods.lives) == 0 {
		return nil, errors.New("there is no Workload of Kueue and no Pod in the input: give what kubectl get --watch -o json prints over time, " +
			"or the audit log of the API server")
	}
	h.Notes = append(h.Notes, notes...)
	cut := h.Lacks
	h.finish()
	h.Pods.Lacks = cut
	h.Pods.finish()
	return h, nil
}

// IsEmpty reports whether there is no Workload.
func (h *History) IsEmpty() bool { return len(h.lives) == 0 }

// begin leaves out the rest of an object with which a file begins that was cut off from a longer one.
func (h *History) begin(s *input.Source) {
	through, name := s.Through, s.Name
	s.Through = func(r io.Reader) io.Reader {
		if through != nil {
			r = through(r)
		}
		in := bufio.NewReaderSize(r, maxRest)
		first, _ := in.Peek(maxRest)
		line, _, _ := bytes.Cut(first, []byte("\n"))
		line = bytes.TrimSpace(line)
		if next := bytes.Index(first, []byte("\n{")); next >= 0 && len(line) > 0 && line[0] != '{' && line[0] != '[' && bytes.ContainsAny(line, `"{}[]`) {
			_, _ = in.Discard(next + 1)
			h.Lacks = "it begins in the middle"
			h.Notes = append(h.Notes, name+": begins in the middle of an object, which is left out: what was before is not known")
		}
		return in
	}
}

// maxRest is the longest rest of an object that is left out.
const maxRest = 1 << 20

// visit takes an object of the input.
func (h *History) visit(o *input.Object) error {
	switch {
	case o.Kind == "Event" && strings.HasPrefix(o.APIVersion, "audit.k8s.io/"):
		return h.audited(o)
	case o.Kind == "Event" && (o.Group() == "" || o.Group() == "events.k8s.io"):
		return h.event(o)
	case o.Kind == "Workload" && o.Group() == kueue.Group:
		h.listed = true
		return h.workload(o, time.Time{})
	case o.Group() == kueue.Group, o.Group() == kueue.ConfigGroup, o.APIVersion == "v1" && slices.Contains([]string{"ConfigMap", "Namespace", "LimitRange"}, o.Kind):
		h.setting(o, time.Time{})
		if !h.Pods.takes(o) {
			return nil
		}
	}
	if h.Pods.takes(o) {
		return h.Pods.add(o, time.Time{})
	}
	return input.ErrNotRead
}

// audited takes an event of an audit log: the object that the API server answered with, or else what it was asked to write.
func (h *History) audited(o *input.Object) error {
	var ref struct {
		Group       string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
	}
	var verb, stage string
	var at time.Time
	if err := errors.Join(o.Field("objectRef", &ref), o.Field("verb", &verb), o.Field("stage", &stage), o.Field("stageTimestamp", &at)); err != nil {
		return err
	}
	ofPods := slices.Contains([]string{"pods", "nodes", "poddisruptionbudgets", "priorityclasses", "podgroups", "namespaces"}, ref.Resource) &&
		slices.Contains([]string{"", "status", "resize"}, ref.Subresource)
	if ref.Group != kueue.Group && !ofPods || stage != "" && stage != "ResponseComplete" || slices.Contains([]string{"get", "list", "watch", "deletecollection"}, verb) {
		return nil
	}
	data := o.Fields["responseObject"]
	if len(data) == 0 {
		return errors.New("it has no responseObject: the audit policy must have the level RequestResponse for " + cmp.Or(ref.Group, ref.Resource))
	}
	// What is none of these is a Status: the request failed, or it deleted and says no more.
	_, err := input.Read([]input.Source{{Name: "responseObject", Reader: bytes.NewReader(data)}}, input.Options{}, func(one *input.Object) error {
		one.Deleted = verb == "delete"
		switch _, grace := headOf(one); {
		case h.Pods.takes(one):
			one.Deleted = one.Deleted && grace == 0 // else its containers may stop first
			return h.Pods.add(one, at)
		case one.Kind == "Workload" && one.Group() == kueue.Group:
			return h.workload(one, at)
		case one.Group() == kueue.Group:
			h.setting(one, at)
		}
		return nil
	})
	return err
}

// event takes an Event about a workload or a pod that was preempted.
func (h *History) event(o *input.Object) error {
	var about, related reference
	var reason, message, note string
	var last, eventTime time.Time
	if err := errors.Join(o.Field("involvedObject", &about), o.Field("regarding", &about), o.Field("related", &related), o.Field("reason", &reason), o.Field("message", &message),
		o.Field("note", &note), o.Field("lastTimestamp", &last), o.Field("eventTime", &eventTime)); err != nil {
		return err
	}
	if about.Kind != "Workload" && about.Kind != "Pod" || reason != "Preempted" {
		return nil
	}
	if last.IsZero() {
		last = eventTime
	}
	if last.IsZero() || about.UID == "" {
		return errors.New("it does not say when, or of which " + about.Kind)
	}
	if about.Kind == "Pod" {
		h.Pods.event(about.UID, message+note, related, last)
		return nil
	}
	h.told = append(h.told, sign{uid: about.UID, id: strings.TrimPrefix(about.Namespace+"/"+about.Name, "/"), at: last, message: message + note})
	return nil
}

// sign is what an Event says: a workload was told to leave.
type sign struct {
	uid, id, message string
	at               time.Time
}

// setting is a version of an object of the configuration.
type setting struct {
	from time.Time // since when it is as it is; zero: not known
	made bool      // from is when it was made: it was not there before
	spec []byte
	text []byte
}

// setting takes an object of the configuration in.
func (h *History) setting(o *input.Object, at time.Time) {
	key := o.Kind + " " + o.ID()
	if o.Deleted {
		h.config[key] = append(h.config[key], setting{from: at, text: document(o, "DELETED", o.Status)})
		return
	}
	made := false
	if at.IsZero() {
		at, made = written(o)
	}
	s := setting{from: at, made: made, spec: slices.Concat(o.Spec, o.Fields["data"]), text: document(o, "MODIFIED", o.Status)}
	list := h.config[key]
	if i := slices.IndexFunc(list, func(old setting) bool { return bytes.Equal(old.spec, s.spec) }); i >= 0 {
		if from := list[i].from; from.IsZero() || !at.IsZero() && at.Before(from) {
			list[i].from, list[i].made = at, made
		}
		return
	}
	h.config[key] = append(list, s)
}

// written says when the spec of an object was written last: when it was made, of one that was never changed, else by its
// managed fields. Zero: it is not said.
func written(o *input.Object) (at time.Time, made bool) {
	var head struct {
		Generation    int64 `json:"generation"`
		ManagedFields []struct {
			Subresource string    `json:"subresource"`
			Time        time.Time `json:"time"`
		} `json:"managedFields"`
	}
	if input.Decode("metadata", o.Head, &head) != nil {
		return at, false
	}
	if head.Generation == 1 {
		return o.Metadata.CreationTimestamp, true
	}
	for _, f := range head.ManagedFields {
		if f.Subresource == "" && f.Time.After(at) {
			at = f.Time
		}
	}
	return at, false
}

// document is an event of a watch with an object as it is, but for its status.
func document(o *input.Object, kind string, status json.RawMessage) []byte {
	fields := map[string]json.RawMessage{"apiVersion": quoted(o.APIVersion), "kind": quoted(o.Kind), "metadata": o.Head, "spec": o.Spec, "status": status}
	maps.Copy(fields, o.Fields)
	text := fmt.Appendf(nil, `{"type":%q,"object":{`, kind)
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fields[name]; len(value) > 0 {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(append(append(text, quoted(name)...), ':'), value...)
		}
	}
	return append(text, "}}\n"...)
}

// quoted is a text of JSON.
func quoted(text string) json.RawMessage {
	out, _ := json.Marshal(text) // no string fails
	return out
}
