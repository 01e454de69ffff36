package cluster

import (
	"reflect"
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/workload"
)

// Facts hold every field of a workload.
func TestFactsHoldEverything(t *testing.T) {
	w := workload.Workload{
		ID: "id", UID: "uid", Queue: "queue", Priority: 1, PriorityBoost: 2,
		Created: time.Unix(1, 0), Queued: time.Unix(2, 0), ReservedAt: time.Unix(3, 0),
		Evicted: true, NeverYields: true, NeverPreempts: true, PodSets: []workload.PodSet{{Name: "main", Count: 1}},
		Gates: gate.Gates{Names: []string{"gate"}},
	}
	for i := range reflect.TypeFor[workload.Workload]().NumField() {
		if reflect.ValueOf(w).Field(i).IsZero() {
			t.Errorf("%s is not tested", reflect.TypeFor[workload.Workload]().Field(i).Name)
		}
	}
	d := newWorkload(&w, &w.Queue, newColumns())
	if got := d.Clone(); !reflect.DeepEqual(got, w) {
		t.Errorf("%+v, want %+v", got, w)
	}
}
