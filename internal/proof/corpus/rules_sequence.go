package corpus

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/preemption"
)

// ruleAttempt is whom an attempt takes, in order, if nobody asks whether the request fits.
type ruleAttempt struct {
	Borrowing  bool     `json:"borrowing"`
	Candidates []Victim `json:"candidates"`
}

func (a *ruleAttempt) text() string {
	names := make([]string, len(a.Candidates))
	for i, v := range a.Candidates {
		names[i] = v.Name + " " + v.Reason
	}
	return fmt.Sprintf("borrowing %t: %s", a.Borrowing, strings.Join(names, ", "))
}

// checkSequence asks for the candidates of each attempt. No decision has them, so the search
// itself is asked.
func (c *RuleCase) checkSequence() (r Report, err error) {
	config, err := c.config()
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	st := c.state()
	made, err := cluster.New(st.Cohorts, st.Queues, st.Admitted)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	var want, got []string
	for i := range c.Want.Attempts {
		want = append(want, c.Want.Attempts[i].text())
	}
	var searcher decide.Searcher
	for i, s := range searcher.Sequences(made, c.dense(made, &config)) {
		if most, stops := c.Settings.Consumption["stopAfterAttempts"]; stops && i >= most {
			break
		}
		a := ruleAttempt{Borrowing: s.Borrowing}
		for n, v := range s.Taken {
			if most, stops := c.Settings.Consumption["stopAfterFirstAttemptCandidates"]; stops && i == 0 && n >= most {
				break
			}
			a.Candidates = append(a.Candidates, Victim{v.Workload.Facts.ID, reasonOf(&v).String()})
		}
		got = append(got, a.text())
	}
	r.compare("attempts", want, got)
	return r, nil
}

// dense returns the question in the form of the search.
func (c *RuleCase) dense(made *cluster.Cluster, config *preemption.Config) *right.Request {
	w := c.workload(&c.Incoming)
	r := &right.Request{
		Priority: w.EffectivePriority(), Queued: instant.Of(w.Queued), Created: instant.Of(w.Created), Now: instant.Of(c.Settings.Now),
	}
	r.Queue, _ = made.QueueNode(w.Queue)
	for _, a := range w.Usage() {
		r.Columns = append(r.Columns, made.Columns.Number(a.FlavorResource()))
		r.Amounts, r.Needs = append(r.Amounts, a.Amount), append(r.Needs, true)
	}
	if config.Sharing == preemption.Fair {
		r.Fair = right.Fairness{
			First: right.FinalShare, Second: right.InitialShare,
			EntitlesNominal: !config.Fair.IgnoreNominalEntitlement, Reevaluate: config.Fair.ReevaluateCandidates,
		}
		if list := config.Fair.Strategies; len(list) == 1 {
			r.Fair.First, r.Fair.Second = right.Strategy(list[0]), 0
		}
	}
	return r
}

func reasonOf(v *right.Victim) preemption.VictimReason {
	switch {
	case v.Cohort < 0 && v.Expired:
		return preemption.InClusterQueueTimeBased
	case v.Cohort < 0:
		return preemption.InClusterQueue
	case v.Fair:
		return preemption.InCohortFairSharing
	case v.WhileBorrowing:
		return preemption.InCohortReclaimWhileBorrowing
	}
	return preemption.InCohortReclamation
}
