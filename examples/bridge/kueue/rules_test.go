package kueue_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption"
)

// readRules reads objects in JSON: a kind, its metadata and spec, the next kind.
func readRules(t *testing.T, list ...string) read.Cluster {
	t.Helper()
	var items []string
	for i := 0; i < len(list); i += 2 {
		version := "v1beta2"
		if strings.HasPrefix(list[i], "Preemption") {
			version = "v1alpha1"
		}
		items = append(items, `{"apiVersion":"kueue.x-k8s.io/`+version+`","kind":"`+list[i]+`",`+strings.TrimPrefix(list[i+1], "{"))
	}
	c, err := read.OfKueue(strings.NewReader(`{"kind":"List","items":[` + strings.Join(items, ",") + `]}`))
	if err != nil {
		c.Warnings = []string{err.Error()}
	}
	return c
}

// clusterOfRules is the cluster of such objects, in which nothing is wrong.
func clusterOfRules(t *testing.T, list ...string) bridge.Cluster {
	t.Helper()
	c := readRules(t, list...).Cluster
	if _, err := preemption.NewSnapshot(c.State); err != nil {
		t.Fatal(err)
	}
	return c
}

// A rule with a field that is not known is left out, and the others stay; elsewhere such a field
// changes nothing. Each has a note with its path.
func TestUnknownFieldsOfRules(t *testing.T) {
	const rule = `{"name":"%","activationPolicy":{"trigger":"Always"},"candidateSelectors":[{"scope":"WithinClusterQueue"}]}`
	rules := func(name, old, new string) string {
		return strings.Replace(strings.Replace(rule, "%", name, 1), old, new, 1)
	}
	for name, c := range map[string]struct {
		spec string
		kept []string
		path string // of the note
	}{
		"known":            {`{"rules":[` + rules("a", "", "") + `,` + rules("b", "", "") + `]}`, []string{"a", "b"}, ""},
		"of the spec":      {`{"mode":"x","rules":[` + rules("a", "", "") + `]}`, []string{"a"}, "spec.mode"},
		"its name":         {`{"name":"x","rules":[` + rules("a", "", "") + `]}`, []string{"a"}, "spec.name"},
		"of a rule":        {`{"rules":[` + rules("a", `"name"`, `"cooldown":"5m","name"`) + `,` + rules("b", "", "") + `]}`, []string{"b"}, "spec.rules[0].cooldown"},
		"of a selector":    {`{"rules":[` + rules("a", "", "") + `,` + rules("b", `{"scope"`, `{"colour":{},"scope"`) + `]}`, []string{"a"}, "spec.rules[1].candidateSelectors[0].colour"},
		"below a selector": {`{"rules":[` + rules("a", `"}]`, `","priority":{"mode":"Base","comparison":"LessThan","weight":1}}]`) + `]}`, nil, "spec.rules[0].candidateSelectors[0].priority.weight"},
		"not valid":        {`{"rules":[` + rules("a", "Always", "Often") + `]}`, []string{"a"}, "spec"},
	} {
		got := clusterOfRules(t, "PreemptionConfig", `{"metadata":{"name":"c"},"spec":`+c.spec+`}`)
		if len(got.State.Rules) != 1 || got.State.Rules[0].Name != "c" {
			t.Errorf("%s: %+v", name, got.State.Rules)
			continue
		}
		var kept []string
		for _, r := range got.State.Rules[0].Rules {
			kept = append(kept, r.Name)
		}
		if !slices.Equal(kept, c.kept) {
			t.Errorf("%s: kept %q, want %q", name, kept, c.kept)
		}
		var paths []string
		for _, n := range got.Notes {
			paths = append(paths, n.Path)
		}
		if want := append([]string{}, c.path); c.path == "" && len(paths) > 0 || c.path != "" && !slices.Equal(paths, want) {
			t.Errorf("%s: notes %q, want one on %q", name, got.Notes, c.path)
		}
	}
}

// A limit with a field that is not known is left out with a note; one that is not valid is refused,
// with the path.
func TestLimits(t *testing.T) {
	got := clusterOfRules(t, "PreemptionLimit", `{"metadata":{"name":"a"},"spec":{"scope":"Global","limit":1,"window":"1h","burst":2}}`,
		"PreemptionLimit", `{"metadata":{"name":"b"},"spec":{"scope":"PreemptedClusterQueue","limit":0,"window":"1s","preemptedClusterQueueSelector":{"matchLabels":{"x":"y"}}}}`)
	if len(got.Limits) != 1 || got.Limits[0].Name != "b" || !got.Limits[0].PreemptedQueues.Matches(map[string]string{"x": "y"}) {
		t.Errorf("limits %+v", got.Limits)
	}
	if len(got.Notes) != 1 || got.Notes[0].Path != "spec.burst" || got.Notes[0].Object != "PreemptionLimit a" {
		t.Errorf("notes %+v", got.Notes)
	}
	var bad kueue.PreemptionLimit
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"c"},"spec":{"scope":"Global","limit":-1,"window":"1ms"}}`), &bad); err != nil {
		t.Fatal(err)
	}
	var o kueue.Objects
	if _, err := o.Add(&bad); err == nil || err.Error() != "spec.limit: -1 is negative (and 1 more fault)" {
		t.Errorf("error %v", err)
	}
	if len(o.Cluster().Limits) != 0 {
		t.Error("it was added")
	}
}

// A queue refers to rules by the first of its annotations that begin so; to some that are not there
// with a note on the queue.
func TestQueuesReferToRules(t *testing.T) {
	const config = `{"metadata":{"name":"hero"},"spec":{}}`
	for _, c := range []struct {
		annotations, rules string
		notes              int
	}{
		{`{}`, "", 0},
		{`{"kueue.x-k8s.io/preemption-config":"hero"}`, "hero", 0},
		{`{"kueue.x-k8s.io/preemption-config-name":"hero"}`, "hero", 0},
		{`{"kueue.x-k8s.io/preemption-config-b":"gone","kueue.x-k8s.io/preemption-config-a":"hero"}`, "hero", 0},
		{`{"other.io/preemption-config":"hero","kueue.x-k8s.io/preemption":"hero"}`, "", 0},
		{`{"kueue.x-k8s.io/preemption-config":"gone"}`, "gone", 1},
	} {
		got := clusterOfRules(t, "PreemptionConfig", config, "ClusterQueue", `{"metadata":{"name":"q","labels":{"team":"a"},"annotations":`+c.annotations+`},"spec":{}}`)
		q := got.State.Queues[0]
		if q.Rules != c.rules || len(got.QueueNotes["q"]) != c.notes || q.Labels["team"] != "a" {
			t.Errorf("%s: rules %q, labels %v, notes %v", c.annotations, q.Rules, q.Labels, got.QueueNotes)
		}
	}
}

// A queue that refers to rules that could not be read says that they were left out; once they can be
// read, or are gone, it does not.
func TestQueuesReferToRulesThatAreLeftOut(t *testing.T) {
	read := func(text string, into kueue.Object) kueue.Object {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
		return into
	}
	rule := `{"name":"r","activationPolicy":{"trigger":"Always"}}`
	good := read(`{"metadata":{"name":"c"},"spec":{}}`, new(kueue.PreemptionConfig))
	bad := read(`{"metadata":{"name":"c"},"spec":{"rules":[`+rule+strings.Repeat(","+rule, 64)+`]}}`, new(kueue.PreemptionConfig))
	var o kueue.Objects
	want := func(text string) {
		t.Helper()
		for _, of := range []kueue.Objects{o, o.Clone()} {
			got := ""
			for _, n := range of.Cluster().QueueNotes["q"] {
				got += n.Text
			}
			if got != text {
				t.Errorf("%q, want %q", got, text)
			}
		}
	}
	const gone, left = "ClusterQueue q refers to PreemptionConfig c, which is not in the input: it has no rules", "ClusterQueue q refers to PreemptionConfig c, which was left out: it has no rules"
	if _, err := o.Add(read(`{"metadata":{"name":"q","annotations":{"kueue.x-k8s.io/preemption-config":"c"}},"spec":{}}`, new(kueue.ClusterQueue))); err != nil {
		t.Fatal(err)
	}
	want(gone)
	if _, err := o.Add(bad); err == nil {
		t.Fatal("no error")
	}
	want(left)
	if again, err := o.Add(good); again || err != nil {
		t.Fatal(again, err)
	}
	want("")
	o.LeaveOut(good, errors.New("bad"), false)
	want(left)
	o.Remove(good)
	want(gone)
}

// A configuration with more rules than an API server takes is refused, with the path.
func TestTooManyRules(t *testing.T) {
	const rule = `{"name":"r","activationPolicy":{"trigger":"Always"}}`
	for n, want := range map[int]string{64: "", 65: "spec.rules: 65: more than 64"} {
		var c kueue.PreemptionConfig
		if err := json.Unmarshal([]byte(`{"metadata":{"name":"c"},"spec":{"rules":[`+rule+strings.Repeat(","+rule, n-1)+`]}}`), &c); err != nil {
			t.Fatal(err)
		}
		var o kueue.Objects
		if _, err := o.Add(&c); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d rules: %v, want %q", n, err, want)
		}
	}
}

// A field that is there twice would make one rule of two; it is an error with its path.
func TestFieldsThatAreThereTwice(t *testing.T) {
	for _, c := range []struct{ kind, spec, want string }{
		{"PreemptionConfig", `{"rules":[{"name":"a","preemptorSelector":{"matchLabels":{"x":"y"}}}],"rules":[{"name":"b"}]}`, "rules: is there twice"},
		{"PreemptionConfig", `{"rules":[{"name":"a","candidateSelectors":[{"scope":"WithinClusterQueue","scope":"AnyClusterQueue"}]}]}`, "rules[0].candidateSelectors[0].scope: is there twice"},
		{"PreemptionLimit", `{"scope":"Global","limit":1,"window":"1h","limit":2}`, "limit: is there twice"},
	} {
		if got := readRules(t, c.kind, `{"metadata":{"name":"c"},"spec":`+c.spec+`}`).Warnings; len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q, want %s", c.spec, got, c.want)
		}
	}
}
