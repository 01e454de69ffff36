package recorded

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
)

// Departures from Kueue's use of gates, by name.
const (
	tiesByName      = "signals of one time go by name: as built, the order of a map decides"
	gateNotNamed    = "a replica that does not name the gate is not waited for"
	wakeInTimeout   = "within the timeout there is always a wake-up"
	quotaEndsMatter = "a replica that has its quota ends the matter"
	quotaHoldsBack  = "an open gate counts though its variant has its quota"
)

// Gates is a question about which gate to open, of the replicas of a workload that exist and are active.
type Gates struct {
	// Variants says that the replicas are variants in one cluster, in order of preference. Else they are in several clusters.
	Variants       bool      `json:"variants,omitempty"`
	TimeoutSeconds int64     `json:"timeoutSeconds"`
	Now            time.Time `json:"now"`
	Replicas       []Replica `json:"replicas,omitempty"`
	Want           Ungate    `json:"want"`
}

// Replica is a replica. Its gates may have a state that they do not name: cede leaves it out.
type Replica struct {
	Name  string     `json:"name"`
	Gates gate.Gates `json:"gates,omitzero"`
	// QuotaReserved says whether the replica has its quota. Nil: the scheduler has not looked at it yet.
	QuotaReserved *bool `json:"quotaReserved,omitempty"`
}

// Ungate is the answer: the replica with the gate that is opened, whether the replica has this gate, and in how many seconds to
// ask again. Zero: no replica, no time.
type Ungate struct {
	Open        string `json:"open,omitempty"`
	Opened      bool   `json:"opened,omitempty"`
	WakeSeconds int64  `json:"wakeSeconds,omitempty"`
}

func (a Ungate) text() []string {
	return one(fmt.Sprintf("open %q (opened %t), look again after %ds", a.Open, a.Opened, a.WakeSeconds))
}

func (g *Gates) config() gate.Config {
	config := gate.Config{Gate: gate.MultiKueue, Timeout: time.Duration(g.TimeoutSeconds) * time.Second}
	if g.Variants {
		config.Gate, config.Order = gate.ConcurrentAdmission, gate.Preference
	}
	return config
}

func (r *Replica) reserved() bool { return r.QuotaReserved != nil && *r.QuotaReserved }

// state returns the state of the replica's gate, and whether it has the gate and the gate is open.
func (g *Gates) state(r *Replica) (s gate.State, named, open bool) {
	name := g.config().Gate
	at := slices.IndexFunc(r.Gates.States, func(s gate.State) bool { return s.Name == name })
	if at >= 0 {
		s = r.Gates.States[at]
	}
	return s, slices.Contains(r.Gates.Names, name), s.Position == gate.Open
}

func (g *Gates) check(r *Report) error {
	if g.Now.IsZero() || g.TimeoutSeconds <= 0 {
		return fmt.Errorf("a question about gates has no now or no timeout")
	}
	var list []gate.Replica
	for _, from := range g.Replicas {
		to := gate.Replica{Name: from.Name, Gates: from.Gates}
		switch {
		case from.reserved():
			to.Progress = gate.Reserved
		case from.QuotaReserved != nil:
			to.Progress = gate.Pending
		}
		if _, named, _ := g.state(&from); !named {
			to.Gates.States = nil
		}
		list = append(list, to)
	}
	act, err := gate.Orchestrate(g.config(), g.Now, list)
	if err != nil {
		return err
	}
	got := Ungate{Open: act.Open, Opened: act.Open != ""}
	if !act.WakeAt.IsZero() {
		got.WakeSeconds = int64(act.WakeAt.Sub(g.Now) / time.Second)
	}
	if !g.Variants { // whose rules are not among those of the package
		g.checkBuilt(r, list)
	}
	r.compare(excuse{g.departure(), g.byDesign().text()}, "ungating", g.Want.text(), got.text())
	return nil
}

// checkBuilt asks by Kueue's rules about the gates as they were recorded. Of equal signals any will do.
func (g *Gates) checkBuilt(r *Report, list []gate.Replica) {
	list = slices.Clone(list)
	for i := range list {
		list[i].Gates = g.Replicas[i].Gates
	}
	config := g.config()
	config.Rules = gate.Kueue019
	act, err := gate.Orchestrate(config, g.Now, list)
	got := Ungate{Open: act.Open}
	at := slices.IndexFunc(list, func(r gate.Replica) bool { return r.Name == act.Open })
	got.Opened = at >= 0 && list[at].Gates.Has(config.Gate)
	if !act.WakeAt.IsZero() {
		got.WakeSeconds = int64(act.WakeAt.Sub(g.Now) / time.Second)
	}
	if _, others := g.asBuilt(); err == nil && slices.Contains(others, g.Want.Open) {
		got.Open = g.Want.Open
	}
	r.compare(excuse{}, "ungating by Kueue's rules", g.Want.text(), got.text())
}

// departure returns the rule of cede that makes the answer differ; empty if Kueue's own rules do not give the recorded answer.
func (g *Gates) departure() string {
	as, others := g.asBuilt()
	if as != g.Want && !(len(others) > 0 && g.Want.Opened == as.Opened && slices.Contains(others, g.Want.Open)) {
		return ""
	}
	some := func(holds func(r *Replica, named, open bool) bool) bool {
		return slices.ContainsFunc(g.Replicas, func(r Replica) bool {
			_, named, open := g.state(&r)
			return holds(&r, named, open)
		})
	}
	switch {
	case some(func(r *Replica, _, open bool) bool { return r.reserved() && !(g.Variants && open) }):
		return quotaEndsMatter
	case some(func(r *Replica, _, _ bool) bool { return r.reserved() }):
		return quotaHoldsBack
	case some(func(r *Replica, named, open bool) bool { return !named && (r.Gates.Blocked.Active || open) }):
		return gateNotNamed
	case g.Want.Open == "" && g.Want.WakeSeconds == 0:
		return wakeInTimeout
	case len(others) > 0:
		return tiesByName
	}
	return ""
}

// wait returns the answer within the timeout after the latest opening; ok is false if it is over.
func (g *Gates) wait(latest time.Time) (a Ungate, ok bool) {
	rest := time.Duration(g.TimeoutSeconds)*time.Second - g.Now.Sub(latest)
	return Ungate{WakeSeconds: int64(rest / time.Second)}, !latest.IsZero() && rest > 0
}

// asBuilt returns the answer by Kueue's own rules, and the other possible answers if the order of a map decides.
func (g *Gates) asBuilt() (answer Ungate, others []string) {
	var candidate *Replica
	var latest time.Time
	stop := false
	for i := range g.Replicas {
		r := &g.Replicas[i]
		if g.Variants && r.reserved() {
			continue
		}
		s, _, open := g.state(r)
		blocked := r.Gates.Blocked
		switch {
		case open:
			if s.Since.After(latest) {
				latest = s.Since
			}
		case stop:
		case blocked.Active && g.Variants:
			candidate, stop = r, true
		case blocked.Active && (candidate == nil || blocked.Since.Before(candidate.Gates.Blocked.Since)):
			candidate, others = r, nil
		case blocked.Active && blocked.Since.Equal(candidate.Gates.Blocked.Since):
			others = append(others, r.Name)
		case g.Variants && r.QuotaReserved == nil:
			stop = true
		}
	}
	if candidate == nil {
		return Ungate{}, nil
	}
	if a, ok := g.wait(latest); ok {
		return a, nil
	}
	_, named, _ := g.state(candidate)
	return Ungate{candidate.Name, named, g.TimeoutSeconds}, others
}

// byDesign returns the answer with all departures.
func (g *Gates) byDesign() Ungate {
	var candidate *Replica
	var latest time.Time
	stop := false
	for i := range g.Replicas {
		r := &g.Replicas[i]
		s, named, open := g.state(r)
		if named && open && s.Since.After(latest) {
			latest = s.Since
		}
		blocked := r.Gates.Blocked
		signals := named && !open && blocked.Active
		switch {
		case stop:
		case r.reserved():
			return Ungate{}
		case signals && g.Variants:
			candidate, stop = r, true
		case signals && (candidate == nil || blocked.Since.Before(candidate.Gates.Blocked.Since) ||
			blocked.Since.Equal(candidate.Gates.Blocked.Since) && r.Name < candidate.Name):
			candidate = r
		case !signals && g.Variants && r.QuotaReserved == nil && !(named && open):
			stop = true
		}
	}
	if a, ok := g.wait(latest); ok {
		return a
	}
	if candidate == nil {
		return Ungate{}
	}
	return Ungate{candidate.Name, true, g.TimeoutSeconds}
}
