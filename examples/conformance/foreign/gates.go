package foreign

import (
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption/recorded"
)

// ungateCase is a record of which gate Kueue opened.
type ungateCase struct {
	Kind     string    `json:"kind"`
	Now      time.Time `json:"now"`
	Timeout  int64     `json:"timeoutSeconds"`
	Replicas []struct {
		Name   string `json:"name"`
		Absent bool   `json:"absent"`
		Active *bool  `json:"active"` // absent: active
		Gate   struct {
			InSpec   bool           `json:"inSpec"`
			Position *gate.Position `json:"position"` // absent: no state
			Since    time.Time      `json:"lastTransitionTime"`
		} `json:"gate"`
		Blocked  *condition `json:"blocked"`
		Reserved *condition `json:"quotaReserved"`
	} `json:"replicas"`
	Want struct {
		Ungate  string `json:"ungate"`
		Opened  bool   `json:"gateActuallyOpened"`
		Requeue int64  `json:"requeueAfterSeconds"`
	} `json:"want"`
}

type condition struct {
	Status string    `json:"status"`
	Since  time.Time `json:"lastTransitionTime"`
}

func (u *ungateCase) convert(c *recorded.Case) error {
	if err := known("kind", u.Kind, "multikueue-ungate", "concurrent-admission-ungate"); err != nil {
		return err
	}
	g := recorded.Gates{Variants: u.Kind == "concurrent-admission-ungate", TimeoutSeconds: u.Timeout, Now: u.Now, Want: recorded.Ungate{Open: u.Want.Ungate, Opened: u.Want.Opened, WakeSeconds: u.Want.Requeue}}
	name := gate.MultiKueue
	if g.Variants {
		name = gate.ConcurrentAdmission
	}
	for _, from := range u.Replicas {
		if from.Absent || from.Active != nil && !*from.Active {
			continue
		}
		r := recorded.Replica{Name: from.Name}
		if from.Gate.InSpec {
			r.Gates.Names = []string{name}
		}
		if from.Gate.Position != nil {
			r.Gates.States = []gate.State{{Name: name, Position: *from.Gate.Position, Since: from.Gate.Since}}
		}
		if b := from.Blocked; b != nil {
			r.Gates.Blocked = gate.Condition{Active: b.Status == "True", Reason: gate.PreemptionGated, Since: b.Since}
		}
		if from.Reserved != nil {
			r.QuotaReserved = ptr(from.Reserved.Status == "True")
		}
		g.Replicas = append(g.Replicas, r)
	}
	c.Gates = []recorded.Gates{g}
	return nil
}

// storyCase is a fact about gates of another kind: gates that follow their names, a workload that goes back to its queue.
type storyCase struct{ kind string }

func (s *storyCase) convert(c *recorded.Case) error {
	c.Story = "it is about no decision (" + s.kind + ")"
	return known("kind", s.kind, "gate-sync", "scheduler-gate", "queue-requeue", "integration")
}
