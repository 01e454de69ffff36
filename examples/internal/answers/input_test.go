package answers

import (
	"slices"
	"strings"
	"testing"

	objects "github.com/cedesched/cede/examples/internal/input"
)

// Objects that one input takes are not in another, nor in the one to which they were added.
func TestWithLeavesTheInput(t *testing.T) {
	in, err := ReadSample(Samples[0])
	if err != nil {
		t.Fatal(err)
	}
	queues := func(in *Input) (names []string) {
		for _, q := range in.State.Queues {
			names = append(names, q.Name)
		}
		return names
	}
	before := queues(&in)
	for _, name := range []string{"one", "other"} {
		text := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"` + name + `"},"spec":{}}`
		with, err := in.With([]objects.Source{{Name: name, Reader: strings.NewReader(text)}})
		if err != nil {
			t.Fatal(err)
		}
		want := append(slices.Clone(before), name)
		slices.Sort(want)
		got := queues(&with)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("with %s: %q, want %q", name, got, want)
		}
	}
	if _, err := in.With([]objects.Source{{Name: "bad", Reader: strings.NewReader(`{"kind":`)}}); err == nil {
		t.Error("a half object is read")
	}
	if again, err := in.With(nil); err != nil || !slices.Equal(queues(&again), before) {
		t.Errorf("%v, %q, want %q", err, queues(&again), before)
	}
}
