package kueue_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/preemption"
)

// follow brings an event of a workload into a snapshot: w is the object as it is now, or as it was
// when it went.
func follow(s *preemption.Snapshot, w *kueue.Workload, gone bool) (*preemption.Snapshot, error) {
	if id := w.Metadata.ID(); gone || w.Stage() != kueue.StageAdmitted {
		if _, held := s.Find(id); !held {
			return s, nil // it holds nothing, and held nothing
		}
		return s.With(preemption.Remove(id))
	}
	now, err := w.Admitted()
	if err != nil {
		return s, err // s holds what was there before
	}
	return s.With(preemption.Admit(now))
}

// holder is a workload that holds GPUs, or waits for them.
func holder(name string, gpus int64, conditions ...string) *kueue.Workload {
	w := &kueue.Workload{Metadata: bridge.Metadata{Name: name, Namespace: "team"}, Status: kueue.WorkloadStatus{
		Admission: &kueue.Admission{ClusterQueue: "vision", PodSetAssignments: []kueue.PodSetAssignment{{
			Name: "main", Flavors: map[string]string{"nvidia.com/gpu": "h100"}, ResourceUsage: bridge.ResourceList{"nvidia.com/gpu": bridge.Units(gpus)}}}},
	}}
	for _, c := range conditions {
		w.Status.Conditions = append(w.Status.Conditions, kueue.Condition{Type: c, Status: "True"})
	}
	return w
}

// A snapshot that follows events is the snapshot of all objects.
func TestFollow(t *testing.T) {
	vision := &kueue.ClusterQueue{Metadata: bridge.Metadata{Name: "vision"}, Spec: kueue.ClusterQueueSpec{ResourceGroups: []kueue.ResourceGroup{
		{Flavors: []kueue.FlavorQuotas{{Name: "h100", Resources: []kueue.ResourceQuota{{Name: "nvidia.com/gpu", NominalQuota: bridge.Units(64)}}}}}}}}
	q, notes, err := vision.Queue()
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	snapshot, err := new(preemption.Snapshot).With(preemption.SetQueue(q))
	if err != nil {
		t.Fatal(err)
	}
	var objects kueue.Objects
	h100 := &kueue.ResourceFlavor{Metadata: bridge.Metadata{Name: "h100"}}
	flavor, _, err := h100.Flavor()
	if err != nil {
		t.Fatal(err)
	}
	if snapshot, err = snapshot.With(preemption.SetFlavor(flavor)); err != nil {
		t.Fatal(err)
	}
	for _, o := range []kueue.Object{vision, h100} {
		if _, err := objects.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	for i, event := range []struct {
		w    *kueue.Workload
		gone bool
		want []string // who holds what
	}{
		{holder("a", 4), false, nil},
		{holder("a", 4, "QuotaReserved"), false, []string{"team/a 4"}},
		{holder("b", 2, "QuotaReserved"), false, []string{"team/a 4", "team/b 2"}},
		{holder("b", 3, "QuotaReserved"), false, []string{"team/a 4", "team/b 3"}},
		{holder("a", 4, "QuotaReserved", "Evicted"), false, []string{"team/a 4", "team/b 3"}},
		{holder("a", 4, "QuotaReserved", "Finished"), false, []string{"team/b 3"}},
		{holder("a", 4, "QuotaReserved", "Finished"), true, []string{"team/b 3"}},
		{holder("b", 3, "QuotaReserved"), true, nil},
	} {
		if snapshot, err = follow(snapshot, event.w, event.gone); err != nil {
			t.Fatal(err)
		}
		if event.gone {
			objects.Remove(event.w)
		} else if _, err := objects.Add(event.w); err != nil {
			t.Fatal(err)
		}
		all, err := preemption.NewSnapshot(objects.Cluster().State)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", all.State()), fmt.Sprintf("%+v", snapshot.State())); diff != "" {
			t.Errorf("event %d: -all +followed:\n%s", i, diff)
		}
		var holds []string
		for _, w := range snapshot.State().Admitted {
			holds = append(holds, fmt.Sprint(w.ID, " ", w.Usage()[0].Amount))
		}
		if !slices.Equal(holds, event.want) {
			t.Errorf("event %d: %q, want %q", i, holds, event.want)
		}
	}
	// An odd object leaves the snapshot as it is.
	odd := holder("c", 1, "QuotaReserved")
	odd.Metadata.Annotations = map[string]string{"kueue.x-k8s.io/priority-boost": "lots"}
	if same, err := follow(snapshot, odd, false); err == nil || same != snapshot {
		t.Errorf("%v", err)
	}
}

// The code in the document is the code that is tested.
func TestDocumentIsTested(t *testing.T) {
	document, err := os.ReadFile("../../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	for _, name := range []string{"follow_test.go", "../../kueue/adapter.go", "../../kueue/mirror.go", "../../kueue/mirror_test.go", "../../../preemption/cycle/example_loop_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, text...)
	}
	blocks := strings.Split(string(document), "```go\n")[1:]
	if len(blocks) == 0 {
		t.Error("no code")
	}
	for _, b := range blocks {
		if b, _, _ = strings.Cut(b, "```"); !strings.Contains(string(code), b) {
			t.Errorf("in no test:\n%s", b)
		}
	}
}
