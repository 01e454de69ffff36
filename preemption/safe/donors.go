package safe

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Which queues are asked depends on the queue of a workload, not on the workload: of those that rules refuse whatever they ask for, one for
// each rule stays, to be named.

// donor is a queue of workloads that are asked about.
type donor struct {
	borrows bool     // more than its own quota of anything: if not, no other queue reclaims from it
	all     []threat // the queues of the tree, by name
	from    []threat // those whose requests are asked
	refused map[refusal]preemption.Rule
	noted   map[noted]bool // by queues that stay for the note alone
}

// threat is a queue whose requests are asked.
type threat struct {
	*asking
	own    bool // that of the workloads
	common int  // the lowest cohort above both
	branch region
	stays  bool // all its requests are refused, and it stays to be named
}

// refusal is what a rule refuses, of all workloads of a donor: requests of a queue for one of its resources.
type refusal struct {
	by  *asking
	row int
	as  asks
}

// noted is a rule by which a queue has no right, for one resource or for anything.
type noted struct {
	rule preemption.Rule
	of   quota.FlavorResource
}

func (a *Asker) donorOf(name string) *donor {
	d := a.donors[name]
	if d == nil {
		rows, _ := a.snapshot.QueueStatus(name)
		d = &donor{refused: map[refusal]preemption.Rule{}, noted: map[noted]bool{}}
		d.borrows = slices.ContainsFunc(rows, func(row preemption.QuotaStatus) bool { return row.Borrowed > 0 })
		for _, q := range a.queuesOf(a.where.trees[name]) {
			common := a.where.common(q.Name, name)
			d.from = append(d.from, threat{asking: q, own: q.Name == name, common: common, branch: a.where.below(name, common)})
		}
		d.all = slices.Clone(d.from)
		a.donors[name] = d
	}
	return d
}

// settled reports whether a queue need not be asked any more: rules refuse its requests whatever the workload, and other queues that
// stay are named for the same.
func (d *donor) settled(q *threat) bool {
	if q.stays || q.own {
		return false
	}
	var rules []noted
	if !d.borrows || q.Preemption.ReclaimWithinCohort == queue.Never {
		rules = append(rules, noted{rule: ruleOfOther(q.asking)})
	} else {
		if !d.refuses(q.asking) {
			return false
		}
		for row := range q.rows {
			if contested(&q.rows[row]) {
				rules = append(rules, noted{d.refused[refusal{q.asking, row, alone}], q.rows[row].FlavorResource})
			}
		}
	}
	for _, of := range rules {
		q.stays = q.stays || !d.noted[of]
		d.noted[of] = true
	}
	return !q.stays
}

// refuses reports whether rules refuse all requests of another queue, whatever the workload.
func (d *donor) refuses(q *asking) bool {
	for row := range q.rows {
		if contested(&q.rows[row]) && (d.refused[refusal{q, row, alone}] == 0 || len(q.rows) > 1 && d.refused[refusal{q, row, among}] == 0) {
			return false
		}
		if q.onNodes[row] && d.refused[refusal{q, row, forRoom}] == 0 {
			return false
		}
	}
	return true
}

// noteOther notes why requests of another queue have no right, whatever they ask for.
func (e *exposures) noteOther(q *asking, queueOf string) {
	e.note(preemption.Blocker{Rule: ruleOfOther(q), Queue: queueOf}, q.Name)
}

func ruleOfOther(q *asking) preemption.Rule {
	if q.Preemption.ReclaimWithinCohort == queue.Never {
		return preemption.RuleReclaimWithinCohort
	}
	return preemption.RuleWithinNominal
}
