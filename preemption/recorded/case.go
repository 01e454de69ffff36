package recorded

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Case is what another scheduler decided about one situation: the answers to one question or several.
type Case struct {
	ID string `json:"id"`
	// Source is the project, its version and the name of the test or of the generator.
	Source string `json:"source,omitempty"`
	// Story says why the case has no question: it tells a story in words, or asks what no decision answers.
	Story  string     `json:"story,omitempty"`
	Quota  []Question `json:"quota,omitempty"`
	Nodes  []OnNodes  `json:"nodes,omitempty"`
	Gates  []Gates    `json:"gates,omitempty"`
	Settle []Settling `json:"settle,omitempty"`
	Moves  []Moving   `json:"moves,omitempty"`
	// FairShares are questions about trees of queues as KAI has them.
	FairShares []FairShares `json:"fairShares,omitempty"`
}

// Question is a question about quota and what the other scheduler answered.
type Question struct {
	// Config and State are, if nil, those of the question before.
	Config  *preemption.Config `json:"config,omitempty"`
	State   *preemption.State  `json:"state,omitempty"`
	Request preemption.Request `json:"request,omitzero"`
	// Places is the request's Room: it has a place once all workloads of one of the lists are gone. An empty list of lists: it
	// never has. Nil: there is no Room.
	Places [][]string `json:"places,omitzero"`
	// Heads are decided about in one cycle, at the time of the request.
	Heads []queue.Head `json:"heads,omitempty"`
	// Counted is the state with the replicas that the other scheduler counts as running, and cede does not. Nil: both count alike.
	Counted *preemption.State `json:"counted,omitempty"`
	Want    Want              `json:"want"`
}

// Want holds the answers about quota. Nil and zero: the answer is not recorded.
type Want struct {
	Victims []Victim `json:"victims,omitzero"`
	// Possible says that the request fits, now or once the victims are gone.
	Possible *bool `json:"possible,omitempty"`
	// Refused says that the question or a preemption rule of the state is an error.
	Refused bool `json:"refused,omitempty"`
	// RetryAt is a time, or the zero time for none.
	RetryAt *time.Time `json:"retryAt,omitempty"`
	// Taken are the candidates of each attempt, in the order of taking, also those that are put back. An
	// attempt that cede does not make, as it cannot help, is not compared.
	Taken []Attempt `json:"taken,omitzero"`
	// Yields are the candidates of all attempts together.
	Yields []Victim `json:"yields,omitzero"`
	// Faults are the parts of preemption rules that are not valid: "scope", "priority", "labelSelector" and the like.
	Faults []string `json:"faults,omitzero"`
	// Admits are the heads that a cycle admits.
	Admits    []string   `json:"admits,omitzero"`
	Forecasts []Forecast `json:"forecasts,omitempty"`
	Queues    []Row      `json:"queues,omitempty"`
	Cohorts   []Row      `json:"cohorts,omitempty"`
	Shares    []Share    `json:"shares,omitempty"`
}

// Victim is a workload that yields.
type Victim struct {
	Workload string `json:"workload"`
	// Reason is the right by which it yields. Zero: not recorded.
	Reason preemption.VictimReason `json:"reason,omitzero"`
	// Rules are the preemption rules that chose the victim, of one trigger. Nil: not recorded.
	Rules []preemption.VictimRule `json:"rules,omitzero"`
}

// Attempt is what one attempt takes.
type Attempt struct {
	WithinNominal bool `json:"withinNominal,omitempty"`
	// More says that the attempt took more than is recorded.
	More    bool     `json:"more,omitempty"`
	Victims []Victim `json:"victims"`
}

// Forecast is what preemption could do for an amount.
type Forecast struct {
	quota.Amount
	Possibility  preemption.Possibility `json:"possibility"`
	BorrowHeight quota.OptionalInt64    `json:"borrowHeight,omitzero"` // unset: not recorded
}

// Row holds the numbers of a queue or cohort in one column. Cohorts have no available and no potential amount.
type Row struct {
	Name string `json:"name"`
	quota.FlavorResource
	Usage        int64 `json:"usage"`
	Available    int64 `json:"available,omitempty"`
	Potential    int64 `json:"potential,omitempty"`
	SubtreeQuota int64 `json:"subtreeQuota"`
}

// Share is the dominant resource share of a queue or cohort.
type Share struct {
	Queue    string `json:"queue,omitempty"`
	Cohort   string `json:"cohort,omitempty"`
	Weighted string `json:"weighted"`
	Resource string `json:"resource,omitempty"`
}

// Validate fails on what is no case: one without an ID, or without a question or a story.
func (c *Case) Validate() error {
	switch {
	case c.ID == "":
		return fmt.Errorf("no case: it has no id")
	case c.Story == "" && len(c.Quota)+len(c.Nodes)+len(c.Gates)+len(c.Settle)+len(c.Moves)+len(c.FairShares) == 0:
		return fmt.Errorf("case %q: it has no question", c.ID)
	case len(c.Quota) > 0 && c.Quota[0].State == nil:
		return fmt.Errorf("case %q: quota[0].state: is missing", c.ID)
	}
	for i := range c.Nodes {
		for j, pair := range c.Nodes[i].Conflicts {
			if len(pair) != 2 && len(pair) != 3 {
				return fmt.Errorf("case %q: nodes[%d].conflicts[%d]: want 2 pods, with or without a word on where", c.ID, i, j)
			}
		}
	}
	return nil
}

// Check asks all questions of the case. The error says that one could not be asked.
func (c *Case) Check() (r Report, err error) {
	r.NotAsked = c.Story
	for i := range c.Quota {
		q := &c.Quota[i]
		if i > 0 && q.State == nil {
			q.State = c.Quota[i-1].State
		}
		if i > 0 && q.Config == nil {
			q.Config = c.Quota[i-1].Config
		}
		if err := q.check(&r); err != nil {
			return r, fmt.Errorf("case %q: %w", c.ID, err)
		}
	}
	for i := range c.Nodes {
		if err := c.Nodes[i].check(&r); err != nil {
			return r, fmt.Errorf("case %q: %w", c.ID, err)
		}
	}
	for i := range c.Gates {
		if err := c.Gates[i].check(&r); err != nil {
			return r, fmt.Errorf("case %q: %w", c.ID, err)
		}
	}
	for i := range c.Settle {
		if err := c.Settle[i].check(&r); err != nil {
			return r, fmt.Errorf("case %q: %w", c.ID, err)
		}
	}
	for i := range c.Moves {
		if err := c.Moves[i].check(&r); err != nil {
			return r, fmt.Errorf("case %q: %w", c.ID, err)
		}
	}
	for i := range c.FairShares {
		if err := c.FairShares[i].check(&r); err != nil {
			return r, fmt.Errorf("case %q: %w", c.ID, err)
		}
	}
	return r, nil
}

// Report is what came of a case.
type Report struct {
	// Differences lists what differs and no departure explains.
	Differences []Difference
	// Departures names the departures that explain what differs on purpose.
	Departures []string
	// NotAsked says why the case cannot be asked. Else empty.
	NotAsked string
}

// Passed reports whether departures explain all that differs.
func (r *Report) Passed() bool { return len(r.Differences) == 0 }

// Difference is one answer that differs.
type Difference struct {
	What string   `json:"what"`
	Want []string `json:"want"`
	Got  []string `json:"got"`
}

// excuse is a departure with the answer that it makes right. The zero value excuses nothing.
type excuse struct {
	departure string
	answer    []string
}

// compare records a difference, or the departure that explains it: the answer is the one that the departure makes right.
func (r *Report) compare(e excuse, what string, want, got []string) {
	switch {
	case slices.Equal(want, got):
	case e.departure != "" && slices.Equal(e.answer, got):
		if !slices.Contains(r.Departures, e.departure) {
			r.Departures = append(r.Departures, e.departure)
		}
	default:
		r.Differences = append(r.Differences, Difference{what, want, got})
	}
}

// texts returns a text for each element, sorted.
func texts[E any](list []E, text func(E) string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = text(e)
	}
	slices.Sort(out)
	return out
}

func one(v any) []string { return []string{fmt.Sprint(v)} }
