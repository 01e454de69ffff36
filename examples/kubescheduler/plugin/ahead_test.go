package plugin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
)

// The first attempt takes the snapshot that was made ahead. Whatever changed until then, also while the
// informers were followed, the snapshot equals one that is made anew.
func TestFirstAttemptTakesWhatWasMadeAhead(t *testing.T) {
	h := newHarness(t)
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		for seed := range uint64(20) {
			h.cede.mirror = mirror.Mirror{}
			made := &ahead{}
			worlds := [3]world{drawWorld(class, 3*seed, 8), drawWorld(class, 3*seed+1, 7), drawWorld(class, 3*seed+2, 8)}
			if seed%4 == 0 {
				worlds[1], worlds[2] = worlds[0], worlds[0] // nothing changes
			}
			for _, w := range worlds[:2] {
				h.show(t, w)
				if !made.follow(h.ctx, h.factory, false) {
					t.Fatal("it is taken")
				}
			}
			h.show(t, worlds[2])
			first, _, ok := made.take()
			if !ok || first.Size() != len(worlds[1].nodes) {
				t.Fatalf("%s %d: %v, %d nodes are ahead, of %d", class, seed, ok, first.Size(), len(worlds[1].nodes))
			}
			h.cede.mirror = first
			if err := h.cede.follow(h.ctx, h.lister.NodeInfos(), worlds[2].pod); err != nil {
				t.Fatal(err)
			}
			kept := h.cede.mirror.Snapshot().State()
			h.cede.mirror = mirror.Mirror{}
			if err := h.cede.follow(h.ctx, h.lister.NodeInfos(), worlds[2].pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(h.cede.mirror.Snapshot().State(), kept); diff != "" {
				t.Fatalf("%s %d: (- anew, + ahead)\n%s", class, seed, diff)
			}
			if made.follow(h.ctx, h.factory, false) {
				t.Error("it is followed after it was taken")
			}
			if _, _, ok := made.take(); ok {
				t.Error("it is taken twice")
			}
		}
	}
}

// What is strange is told once, also if it was found ahead. A pod that asks for a resource of the nodes does not
// make the snapshot begin anew.
func TestAheadTellsWhatIsStrange(t *testing.T) {
	h := newHarness(t)
	found := 0
	for seed := range uint64(20) {
		w := drawWorld("huge requests", seed, 8)
		h.show(t, w)
		made := &ahead{}
		for range 2 {
			made.follow(h.ctx, h.factory, false)
		}
		first, strange, _ := made.take()
		before := first.Snapshot()
		h.cede.mirror = mirror.Mirror{}
		if err := h.cede.follow(h.ctx, h.lister.NodeInfos(), w.pod); err != nil {
			t.Fatal(err)
		}
		anew := map[string]bool{}
		for _, s := range h.cede.mirror.Strange() {
			anew[fmt.Sprintf("%p %s", s.Object, s.Problem)] = true
		}
		h.cede.mirror = first
		if err := h.cede.follow(h.ctx, h.lister.NodeInfos(), w.pod); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, s := range slices.Concat(strange, h.cede.mirror.Strange()) {
			text := fmt.Sprintf("%p %s", s.Object, s.Problem)
			if got[text] {
				t.Errorf("%d: told twice: %s", seed, text)
			}
			got[text] = true
		}
		if diff := cmp.Diff(anew, got); diff != "" {
			t.Errorf("%d: (- anew, + ahead)\n%s", seed, diff)
		}
		if found += len(got); before == nil {
			t.Error("no snapshot is made ahead")
		}
	}
	if found == 0 {
		t.Error("nothing is strange")
	}
}

// The plugin follows the informers once they are filled; an attempt before that does without.
func TestAheadWaitsForTheInformers(t *testing.T) {
	w := drawWorld("resources", 1, 8)
	var objects []runtime.Object
	for _, n := range w.nodes {
		objects = append(objects, n)
	}
	for _, p := range w.pods {
		objects = append(objects, p)
	}
	factory := informers.NewSharedInformerFactory(fake.NewClientset(objects...), 0)
	core := factory.Core().V1()
	_, _, _ = core.Nodes().Informer(), core.Pods().Informer(), factory.Policy().V1().PodDisruptionBudgets().Informer()
	var early, late ahead
	go early.run(t.Context(), factory, false)
	go late.run(t.Context(), factory, false)
	if _, _, ok := early.take(); ok {
		t.Error("a mirror of informers that are not filled")
	}
	factory.Start(t.Context().Done())
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		late.mutex.Lock()
		defer late.mutex.Unlock()
		return late.synced, nil
	})
	first, _, ok := late.take()
	nodes, _ := core.Nodes().Lister().List(labels.Everything())
	if err != nil || !ok || first.Size() != len(w.nodes) || len(first.Snapshot().State().Pods) != len(w.pods) || len(nodes) != len(w.nodes) {
		t.Errorf("%v: %v: %d nodes", err, ok, first.Size())
	}
}
