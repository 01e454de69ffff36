package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// GateCase is a fact about gates from Kueue's tests: states made to follow the names
// (gate-sync), what the scheduler does with a gated workload (scheduler-gate), how it
// goes back to its queue (queue-requeue). A case of the kind integration, and one that wants nothing
// of this, is a story in words and is not asked.
type GateCase struct {
	Name     string          `json:"id"`
	Kind     string          `json:"kind"`
	Now      time.Time       `json:"now"`
	Features map[string]bool `json:"featureGates"`

	Spec   []string        `json:"spec"`
	Status []positionSince `json:"status"`

	Mode        string `json:"assignmentMode"`
	EntryStatus string `json:"entryStatus"`
	Candidates  int64  `json:"candidates"`
	Gates       []struct {
		Name     string         `json:"name"`
		InSpec   bool           `json:"inSpec"`
		Position *gate.Position `json:"position"`
	} `json:"gates"`

	Strategy queue.Strategy `json:"queueingStrategy"`
	Reason   string         `json:"requeueReason"`

	Want struct {
		Status      []positionSince `json:"status"`
		Preemptions *int            `json:"preemptions"`
		Blocked     *string         `json:"blocked"`
		Reserved    *string         `json:"quotaReserved"`
		EqualsAside *bool           `json:"equivalentWorkloadsMovedToInadmissible"`
	} `json:"want"`
}

type positionSince struct {
	Name     string        `json:"name"`
	Position gate.Position `json:"position"`
	Since    time.Time     `json:"lastTransitionTime"`
}

// ID returns the case's name.
func (c *GateCase) ID() string { return c.Name }

func (c *GateCase) check() error {
	if c.Name == "" || c.Kind == "" {
		return fmt.Errorf("no case: it has no id or no kind")
	}
	return knownKind(c.Name, c.Kind, "gate-sync", "scheduler-gate", "queue-requeue", "integration")
}

// Check asks what the case's kind is about.
func (c *GateCase) Check(p *preemption.Preemptor) (r Report, err error) {
	switch {
	case c.Kind == "gate-sync":
		c.sync(&r)
	case c.Kind == "scheduler-gate" && (c.Want.Preemptions != nil || c.Want.Blocked != nil):
		err = c.schedule(p, &r)
	case c.Kind == "queue-requeue" && c.Want.EqualsAside != nil:
		err = c.requeue(&r)
	default:
		r.NotAsked = "a story in words (" + c.Kind + ")"
	}
	if err != nil {
		err = fmt.Errorf("case %q: %w", c.Name, err)
	}
	return r, err
}

func (c *GateCase) sync(r *Report) {
	g := gate.Gates{Names: c.Spec}
	for _, s := range c.Status {
		g.States = append(g.States, gate.State{Name: s.Name, Position: s.Position, Since: s.Since})
	}
	var got, want []string
	for _, s := range g.Synced(c.Now).States {
		got = append(got, fmt.Sprintf("%s %v since %v", s.Name, s.Position, s.Since))
	}
	for _, s := range c.Want.Status {
		want = append(want, fmt.Sprintf("%s %v since %v", s.Name, s.Position, s.Since))
	}
	slices.Sort(got)
	slices.Sort(want)
	r.compare("states", want, got)
}

// schedule decides in a queue that is made for the case: room for one, or as many
// workloads of lower priority as there are candidates.
func (c *GateCase) schedule(p *preemption.Preemptor, r *Report) error {
	gates, candidates := gate.Gates{}, c.Candidates
	if c.EntryStatus == "preemptionGated" { // the case starts after the decision
		gates.Names, candidates = []string{"gate"}, 1
	}
	on := len(c.Features) == 0
	for _, name := range []string{"MultiKueueOrchestratedPreemption", "ConcurrentAdmission"} {
		on = on || c.Features[name]
	}
	for _, g := range c.Gates {
		if g.InSpec && on {
			gates.Names = append(gates.Names, g.Name)
		}
		if g.InSpec && on && g.Position != nil {
			gates.States = append(gates.States, gate.State{Name: g.Name, Position: *g.Position, Since: kaiNow})
		}
	}
	takes := func(n int64) []workload.PodSet {
		return []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: n}}}}
	}
	runs, asks := candidates, max(1, candidates)
	switch c.Mode {
	case "Fit":
		runs = 0
	case "NoFit":
		asks++
	}
	st := preemption.State{Queues: []queue.Queue{{Name: "cq", Preemption: queue.PreemptionPolicy{WithinClusterQueue: queue.LowerPriority},
		Quotas: []quota.Quota{{Flavor: "default", Resource: "cpu", Nominal: max(1, candidates)}}}}}
	for i := range runs {
		st.Admitted = append(st.Admitted, workload.Workload{ID: fmt.Sprint("low", i), Queue: "cq", PodSets: takes(1)})
	}
	if runs == 0 && c.Mode != "Fit" {
		st.Admitted = append(st.Admitted, workload.Workload{ID: "equal", Queue: "cq", Priority: 1, PodSets: takes(1)})
	}
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return err
	}
	d, err := p.Decide(s, preemption.Request{Now: kaiNow, Workload: workload.Workload{ID: "w1", Queue: "cq", Priority: 1, PodSets: takes(asks), Gates: gates}})
	if err != nil {
		return err
	}
	preemptions, blocked, reserved := 0, "absent", "False"
	switch d.Outcome {
	case preemption.Fits:
		reserved = "True/QuotaReserved"
	case preemption.Preempt:
		preemptions = len(d.Edits())
	case preemption.Gated:
		g := gates.Signalled(kaiNow)
		blocked, reserved = "True/"+g.Blocked.Reason, "False/AdmissionGated"
	}
	if c.Want.Preemptions != nil {
		r.compare("preemptions", []string{fmt.Sprint(*c.Want.Preemptions)}, []string{fmt.Sprint(preemptions)})
	}
	if c.Want.Blocked != nil {
		r.compare(gate.BlockedOnPreemptionGates, []string{*c.Want.Blocked}, []string{blocked})
	}
	if c.Want.Reserved != nil && d.Outcome.Possible() {
		r.compare("quota reserved", []string{*c.Want.Reserved}, []string{reserved})
	}
	return nil
}

var reasonsAsBuilt = map[string]queue.RequeueReason{
	"NoFit": queue.NoFit, "PreemptionNoCandidates": queue.NoCandidates, "PreemptionGated": queue.Gated,
	"PendingPreemption": queue.PendingPreemption, "FailedAfterNomination": queue.FailedAfterNomination, "": queue.Invalid,
	"PreemptionFailed": queue.FailedAfterNomination,
}

func (c *GateCase) requeue(r *Report) error {
	reason, known := reasonsAsBuilt[c.Reason]
	if !known {
		r.NotAsked = "a reason of its own (" + c.Reason + ")"
		return nil
	}
	p, err := queue.NewPending(nil, []queue.Queue{{Name: "cq", Strategy: c.Strategy}})
	for _, id := range []string{"w1", "w2"} {
		if err == nil {
			p, err = p.Add(workload.Workload{ID: id, Queue: "cq"})
		}
	}
	if err == nil && len(p.Heads()) == 1 {
		p, err = p.Requeue(p.Heads()[0], queue.Requeue{Reason: reason})
	}
	if err != nil {
		return err
	}
	_, equal, _ := p.Find("w2")
	r.compare(cmp.Or(c.Reason, "no reason")+": equals step aside",
		[]string{fmt.Sprint(*c.Want.EqualsAside)}, []string{fmt.Sprint(equal.Activity == queue.Inadmissible)})
	return nil
}
