package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
)

// Departures from Kueue's use of gates, by name. Each is a predicate on the case.
const (
	TiesByName      = "signals of one time go by name: as built, the order of a map decides"
	GateNotNamed    = "a replica that does not name the gate is not waited for"
	WakeInTimeout   = "within the timeout there is always a wake-up"
	QuotaEndsMatter = "a replica that has its quota ends the matter"
	QuotaHoldsBack  = "an open gate counts though its variant has its quota"
)

// UngateCase is a record of which gate Kueue opened.
type UngateCase struct {
	Name     string       `json:"id"`
	Kind     string       `json:"kind"`
	Now      time.Time    `json:"now"`
	Timeout  int64        `json:"timeoutSeconds"`
	Replicas []kueueCopy  `json:"replicas"`
	Want     ungateAnswer `json:"want"`
}

// kueueCopy is a replica in a cluster, or a variant in order of preference.
type kueueCopy struct {
	Name   string `json:"name"`
	Absent bool   `json:"absent"`
	Active *bool  `json:"active"` // absent: active
	Gate   struct {
		InSpec   bool           `json:"inSpec"`
		Position *gate.Position `json:"position"` // absent: no state
		Since    time.Time      `json:"lastTransitionTime"`
	} `json:"gate"`
	Blocked       *condition `json:"blocked"`
	QuotaReserved *condition `json:"quotaReserved"`
}

type condition struct {
	Status string    `json:"status"`
	Since  time.Time `json:"lastTransitionTime"`
}

func (c *condition) holds() bool { return c != nil && c.Status == "True" }

func (r *kueueCopy) open() bool { return r.Gate.Position != nil && *r.Gate.Position == gate.Open }

type ungateAnswer struct {
	Ungate  string `json:"ungate"`
	Opened  bool   `json:"gateActuallyOpened"`
	Requeue int64  `json:"requeueAfterSeconds"`
}

func (a ungateAnswer) text() []string {
	return []string{fmt.Sprintf("open %q (opened %t), look again after %ds", a.Ungate, a.Opened, a.Requeue)}
}

// ID returns the case's name.
func (c *UngateCase) ID() string { return c.Name }

func (c *UngateCase) check() error {
	if c.Name == "" || c.Now.IsZero() || c.Timeout <= 0 {
		return fmt.Errorf("no case: it has no id, no now or no timeout")
	}
	return knownKind(c.Name, c.Kind, "multikueue-ungate", "concurrent-admission-ungate")
}

func (c *UngateCase) variants() bool { return c.Kind == "concurrent-admission-ungate" }

// config returns the configuration with the rule that the case is about.
func (c *UngateCase) config() gate.Config {
	config := gate.Config{Timeout: time.Duration(c.Timeout) * time.Second}
	if c.variants() {
		config.Gate, config.Order = gate.ConcurrentAdmission, gate.Preference
	}
	return config
}

// replicas returns the replicas of the case, without those that are missing or deactivated and
// without states of gates that are not named.
func (c *UngateCase) replicas() []gate.Replica {
	name := cmp.Or(c.config().Gate, gate.MultiKueue)
	var list []gate.Replica
	for i := range c.Replicas {
		from := &c.Replicas[i]
		if from.Absent || from.Active != nil && !*from.Active {
			continue
		}
		r := gate.Replica{Name: from.Name}
		if from.Gate.InSpec {
			r.Gates.Names = []string{name}
			if from.Gate.Position != nil {
				r.Gates.States = []gate.State{{Name: name, Position: *from.Gate.Position, Since: from.Gate.Since}}
			}
		}
		if from.Blocked != nil {
			r.Gates.Blocked = gate.Condition{Active: from.Blocked.holds(), Reason: gate.PreemptionGated, Since: from.Blocked.Since}
		}
		if from.QuotaReserved != nil {
			r.Progress = gate.Pending
		}
		if from.QuotaReserved.holds() {
			r.Progress = gate.Reserved
		}
		list = append(list, r)
	}
	return list
}

// Check asks whose gate to open and when to ask again.
func (c *UngateCase) Check(*preemption.Preemptor) (Report, error) {
	act, err := gate.Orchestrate(c.config(), c.Now, c.replicas())
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	got := ungateAnswer{Ungate: act.Open, Opened: act.Open != ""}
	if !act.WakeAt.IsZero() {
		got.Requeue = int64(act.WakeAt.Sub(c.Now) / time.Second)
	}
	var r Report
	r.compareUnless(excuse{c.departure(), c.byDesign().text()}, "ungating", c.Want.text(), got.text())
	return r, nil
}

// departure returns the rule of this library that makes the answer differ; empty if Kueue's
// own rules do not give the recorded answer either.
func (c *UngateCase) departure() string {
	as, others := c.asBuilt()
	if as != c.Want && !(len(others) > 0 && c.Want.Opened == as.Opened && slices.Contains(others, c.Want.Ungate)) {
		return ""
	}
	any := func(holds func(*kueueCopy) bool) bool {
		return slices.ContainsFunc(c.Replicas, func(r kueueCopy) bool { return c.counts(&r, true) && holds(&r) })
	}
	switch {
	case any(func(r *kueueCopy) bool { return r.QuotaReserved.holds() && !(c.variants() && r.open()) }):
		return QuotaEndsMatter
	case any(func(r *kueueCopy) bool { return r.QuotaReserved.holds() }):
		return QuotaHoldsBack
	case any(func(r *kueueCopy) bool { return !r.Gate.InSpec && (r.Blocked.holds() || r.open()) }):
		return GateNotNamed
	case c.Want.Ungate == "" && c.Want.Requeue == 0:
		return WakeInTimeout
	case len(others) > 0:
		return TiesByName
	}
	return ""
}

// counts reports whether Kueue looks at a replica.
func (c *UngateCase) counts(r *kueueCopy, evenWithQuota bool) bool {
	return !r.Absent && (r.Active == nil || *r.Active) && (evenWithQuota || !c.variants() || !r.QuotaReserved.holds())
}

// asBuilt returns the answer by Kueue's own rules, and the other possible answers if the order
// of a map decides.
func (c *UngateCase) asBuilt() (answer ungateAnswer, others []string) {
	var candidate *kueueCopy
	var latest time.Time
	stop := false
	for i := range c.Replicas {
		r := &c.Replicas[i]
		if !c.counts(r, false) {
			continue
		}
		switch {
		case r.open():
			if r.Gate.Since.After(latest) {
				latest = r.Gate.Since
			}
		case stop:
		case r.Blocked.holds() && c.variants():
			candidate, stop = r, true
		case r.Blocked.holds() && (candidate == nil || r.Blocked.Since.Before(candidate.Blocked.Since)):
			candidate, others = r, nil
		case r.Blocked.holds() && r.Blocked.Since.Equal(candidate.Blocked.Since):
			others = append(others, r.Name)
		case c.variants() && r.QuotaReserved == nil:
			stop = true
		}
	}
	if candidate == nil {
		return ungateAnswer{}, nil
	}
	timeout := time.Duration(c.Timeout) * time.Second
	if rest := timeout - c.Now.Sub(latest); !latest.IsZero() && rest > 0 {
		return ungateAnswer{Requeue: int64(rest / time.Second)}, nil
	}
	return ungateAnswer{candidate.Name, candidate.Gate.InSpec, c.Timeout}, others
}

// byDesign returns the answer with all departures.
func (c *UngateCase) byDesign() (answer ungateAnswer) {
	var candidate *kueueCopy
	var latest time.Time
	stop := false
	for i := range c.Replicas {
		r := &c.Replicas[i]
		if !c.counts(r, true) {
			continue
		}
		if r.Gate.InSpec && r.open() && r.Gate.Since.After(latest) {
			latest = r.Gate.Since
		}
		signals := r.Gate.InSpec && !r.open() && r.Blocked.holds()
		switch {
		case stop:
		case r.QuotaReserved.holds():
			return ungateAnswer{}
		case signals && c.variants():
			candidate, stop = r, true
		case signals:
			if candidate == nil || r.Blocked.Since.Before(candidate.Blocked.Since) ||
				r.Blocked.Since.Equal(candidate.Blocked.Since) && r.Name < candidate.Name {
				candidate = r
			}
		case c.variants() && r.QuotaReserved == nil && !(r.Gate.InSpec && r.open()):
			stop = true
		}
	}
	timeout := time.Duration(c.Timeout) * time.Second
	if rest := timeout - c.Now.Sub(latest); !latest.IsZero() && rest > 0 {
		return ungateAnswer{Requeue: int64(rest / time.Second)}
	}
	if candidate == nil {
		return ungateAnswer{}
	}
	return ungateAnswer{candidate.Name, true, c.Timeout}
}
