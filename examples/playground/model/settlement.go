package model

import (
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
)

// Settlement says which queues and cohorts use more than they may, and who has to leave if usage is to be within that.
type Settlement struct {
	// Words is who has to leave and what stays over, in one sentence. Before is that without the edits; empty: there are no edits.
	Words  string `json:"words"`
	Before string `json:"before,omitempty"`
	// RetryAt is that of [settle.Answer].
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Nodes are the queues and cohorts that are over. More is how many are not listed.
	Nodes []Over `json:"nodes"`
	More  int    `json:"more,omitempty"`
}

// Over is a queue or cohort that uses more than it may.
type Over struct {
	Cohort bool   `json:"cohort"`
	Name   string `json:"name"`
	// Title says by how much; Lines say who has to leave and why, what stays over, and what keeps it. More is how many lines are not listed.
	Title string   `json:"title"`
	Lines []string `json:"lines"`
	More  int      `json:"more,omitempty"`
}

// maxOver is the most lines about queues and cohorts that are over.
const maxOver = 200

// settled is the answer to who has to leave.
type settled struct {
	settle.Answer
	err    error
	leaves map[string]bool // the victims, by ID
}

// settle says who has to leave at the time of the slider.
func (s *side) settle() *settled {
	if s.settled == nil {
		s.settled = s.settleAt(s.Now)
	}
	return s.settled
}

func (s *side) settleAt(at time.Time) *settled {
	c := s.Cluster
	c.Now = at
	out := &settled{leaves: map[string]bool{}}
	out.Answer, out.err = c.Settle(settle.Request{})
	for _, v := range out.Victims {
		out.leaves[v.Workload] = true
	}
	return out
}

// words is the answer in one sentence, without the instants.
func (s *settled) words() string {
	if s.err != nil {
		return "Nothing can be said: " + s.err.Error()
	}
	a := s.Answer
	a.RetryAt = time.Time{}
	return printer.SettlementMessage(a)
}

// Settlement says who has to leave at the time of the slider; nil: nothing is over.
func (m *Model) Settlement() *Settlement {
	now := m.now.settle()
	if now.Outcome == preemption.Fits {
		return nil
	}
	out := &Settlement{Words: now.words() + ".", RetryAt: now.RetryAt, Nodes: []Over{}}
	if len(m.doc.Edits) > 0 {
		out.Before = m.origin.settle().words() + "."
	}
	left := maxOver
	for i, step := range printer.SettlementSteps(now.Answer) {
		if left--; left < 0 {
			out.More = len(now.Steps) - i
			break
		}
		of := &now.Steps[i]
		shown := min(left, len(step.Lines))
		out.Nodes = append(out.Nodes, Over{
			Cohort: of.Cohort != "", Name: of.Queue + of.Cohort, Title: step.Section, Lines: step.Lines[:shown:shown], More: len(step.Lines) - shown,
		})
		left -= shown
	}
	return out
}
