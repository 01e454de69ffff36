package cluster

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Facts hold every field of a workload.
func TestFactsHoldEverything(t *testing.T) {
	w := workload.Workload{
		ID: "id", UID: "uid", Queue: "queue", LocalQueue: "local", Labels: map[string]string{"team": "a"}, PriorityClass: "high", Priority: 1, PriorityBoost: 2,
		Created: time.Unix(1, 0), Queued: time.Unix(2, 0), ReservedAt: time.Unix(3, 0), AdmittedAt: time.Unix(5, 0),
		Evicted: true, NeverYields: true, NeverPreempts: true, PodSets: []workload.PodSet{{Name: "main", Count: 1}},
		Gates: gate.Gates{Names: []string{"gate"}},
		Loss:  workload.Loss{LastCheckpoint: time.Unix(4, 0).UTC(), PerReplica: 3},
	}
	for i := range reflect.TypeFor[workload.Workload]().NumField() {
		if reflect.ValueOf(w).Field(i).IsZero() {
			t.Errorf("%s is not tested", reflect.TypeFor[workload.Workload]().Field(i).Name)
		}
	}
	d := newWorkload(&w, &home{queue: w.Queue, localQueue: w.LocalQueue}, newColumns())
	if got := d.Clone(); !reflect.DeepEqual(got, w) {
		t.Errorf("%+v, want %+v", got, w)
	}
}

// A cluster keeps no map and no list of the workloads that it is made of.
func TestNewKeepsNothing(t *testing.T) {
	of := func() []workload.Workload {
		return []workload.Workload{{
			ID: "id", Queue: "queue", Labels: map[string]string{"team": "a"}, PodSets: []workload.PodSet{{Name: "main", Count: 1}},
			Gates: gate.Gates{Names: []string{"gate"}}, Loss: workload.Loss{Milestones: []workload.Milestone{{Cost: 1}}},
		}}
	}
	admitted := of()
	c, err := New(nil, []queue.Queue{{Name: "queue"}}, admitted)
	if err != nil {
		t.Fatal(err)
	}
	w := &admitted[0]
	w.Labels["team"], w.PodSets[0].Name, w.Gates.Names[0], w.Loss.Milestones[0].Cost = "b", "other", "other", 2
	if got, want := c.All()[0].Clone(), of()[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Facts hold the zones of all times, whichever of them are the same.
func TestFactsHoldZones(t *testing.T) {
	zones := []*time.Location{time.UTC, time.Local, time.FixedZone("east", 3600), time.FixedZone("west", -3600)}
	for _, created := range zones {
		for _, queued := range zones {
			for _, reserved := range zones {
				for _, admitted := range zones {
					w := workload.Workload{
						ID: "id", Created: time.Unix(1, 0).In(created), Queued: time.Unix(2, 0).In(queued), ReservedAt: time.Unix(3, 0).In(reserved),
						AdmittedAt: time.Unix(4, 0).In(admitted), PodSets: []workload.PodSet{{Name: "main", Count: 1}},
					}
					if got := newWorkload(&w, &home{queue: w.Queue}, newColumns()).Clone(); !reflect.DeepEqual(got, w) {
						t.Errorf("%+v, want %+v", got, w)
					}
				}
			}
		}
	}
}

// Facts hold when a workload was admitted, to the nanosecond and to the ends of the range.
func TestFactsHoldTheAdmission(t *testing.T) {
	first, last := time.Unix(0, math.MinInt64+1).UTC(), time.Unix(0, math.MaxInt64).UTC()
	times := []time.Time{{}, first, last, time.Unix(0, 0).UTC(), time.Unix(3, 0).UTC(), time.Unix(3, 1).UTC(), time.Unix(2, 0).UTC(), time.Unix(3+math.MaxInt32, 0).UTC()}
	for _, reserved := range times {
		for _, admitted := range times {
			w := workload.Workload{ID: "id", ReservedAt: reserved, AdmittedAt: admitted, PodSets: []workload.PodSet{{Name: "main", Count: 1}}}
			d := newWorkload(&w, &home{queue: w.Queue}, newColumns())
			if got := d.Clone(); !reflect.DeepEqual(got, w) {
				t.Errorf("%+v, want %+v", got, w)
			}
			if w.AdmittedAt = w.AdmittedAt.Add(1); !d.Describes(&workload.Workload{ID: "id", ReservedAt: reserved, AdmittedAt: admitted, PodSets: w.PodSets}) || d.Describes(&w) {
				t.Errorf("it does not tell %v from a nanosecond later", admitted)
			}
		}
	}
}
