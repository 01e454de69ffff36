package gate_test

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/gate"
)

// A workload waits in three clusters. The first to signal may preempt; five minutes later,
// if it still waits, the next.
func Example() {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	born := gate.Gates{Names: []string{gate.MultiKueue}}
	replicas := []gate.Replica{
		{Name: "east", Gates: born.Signalled(noon.Add(2 * time.Second)), Progress: gate.Pending},
		{Name: "north", Gates: born, Progress: gate.NotEvaluated},
		{Name: "west", Gates: born.Signalled(noon.Add(time.Second)), Progress: gate.Pending},
	}
	now := noon.Add(3 * time.Second)
	for range 2 {
		act, err := gate.Orchestrate(gate.Config{}, now, replicas)
		if err != nil {
			panic(err)
		}
		fmt.Println("open", act.Open, "and look again at", act.WakeAt.Format(time.TimeOnly))
		for i := range replicas {
			if replicas[i].Name == act.Open {
				replicas[i].Gates = replicas[i].Gates.Opened(gate.MultiKueue, now)
			}
		}
		now = act.WakeAt
	}
	// Output:
	// open west and look again at 12:05:03
	// open east and look again at 12:10:03
}
