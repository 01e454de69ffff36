package cycle

import (
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// promised is the prefix of the IDs of placeholders: workloads that hold room for a head
// during a cycle.
const promised = "\x00promised:"

// promises is the guard that protects placeholders.
type promises struct{}

func (promises) Verdict(running workload.Workload, _ preemption.Request) preemption.Verdict {
	if strings.HasPrefix(running.ID, promised) {
		return preemption.NeverYields()
	}
	return preemption.MayYield()
}

func (p *plan) placeholder(w workload.Workload) workload.Workload {
	w = w.Clone()
	w.ID, w.ReservedAt, w.AdmittedAt, w.Evicted = promised+w.ID, p.request.Now, time.Time{}, false
	return w
}

// admit adds a placeholder for a head that is admitted: it runs.
func (p *plan) admit(w workload.Workload) error {
	var edits []preemption.Edit
	if id := p.stands(w.ID); p.has(id) {
		edits = append(edits, preemption.Remove(id)) // the placeholder is in its place
	}
	return p.edit(append(edits, preemption.Admit(p.placeholder(w)))...)
}

// edit changes both then and runs.
func (p *plan) edit(edits ...preemption.Edit) (err error) {
	p.running = append(p.running, edits...)
	p.then, err = p.then.With(edits...)
	return err
}

// promise adds a placeholder for a workload after the edits. It is not in runs, where what stands for
// the head (its ID; empty: nothing) keeps what it has until the head is admitted: no head preempts that.
func (p *plan) promise(w workload.Workload, stands string, edits ...preemption.Edit) (err error) {
	after := p.placeholder(w)
	add := []preemption.Edit{preemption.Admit(after)}
	if held, is := p.then.Find(stands); is {
		kept := workload.PodSet{Name: "kept", Count: 1, Requests: least(held.Usage(), w.Usage())}
		edits = append(edits, preemption.Remove(stands), preemption.Admit(p.placeholder(workload.Workload{ID: w.ID, Queue: held.Queue, PodSets: []workload.PodSet{kept}})))
		add = append([]preemption.Edit{preemption.Remove(after.ID)}, add...)
	}
	if err := p.edit(edits...); err != nil {
		return err
	}
	if p.promised == nil {
		p.promised = map[string][]workload.Workload{}
	}
	p.promised[w.Queue] = append(p.promised[w.Queue], after)
	p.then, err = p.then.With(add...)
	return err
}

// least returns the smaller amount of each column that both have.
func least(a, b []quota.Amount) (both []quota.Amount) {
	for _, x := range a {
		for _, y := range b {
			if x.FlavorResource() == y.FlavorResource() {
				x.Amount = min(x.Amount, y.Amount)
				both = append(both, x)
			}
		}
	}
	return both
}

// catchUp makes the edits in runs. First it adds a queue without quota to each cohort above a
// head: in seen it holds what is promised in other queues under the cohort.
func (p *plan) catchUp() (err error) {
	edits := p.running
	p.running = nil
	if p.rooms != nil {
		p.runs, err = p.runs.With(edits...)
		return err
	}
	p.rooms = map[string]string{}
	for i := range p.request.Heads {
		for _, cohort := range above(p.then, p.request.Heads[i].Workload.Queue) {
			if p.rooms[cohort] != "" {
				continue
			}
			name := promised + cohort
			for _, taken := p.then.Queue(name); taken; _, taken = p.then.Queue(name) {
				name += "'"
			}
			p.rooms[cohort] = name
			edits = append(edits, preemption.SetQueue(queue.Queue{Name: name, Cohort: cohort}))
		}
	}
	p.runs, err = p.runs.With(edits...)
	return err
}

// above returns the cohorts above a queue, from the nearest to the root.
func above(s *preemption.Snapshot, queueName string) (list []string) {
	q, _ := s.Queue(queueName)
	for name := q.Cohort; name != ""; {
		list = append(list, name)
		c, _ := s.Cohort(name)
		name = c.Parent
	}
	return list
}

// seen returns the snapshot in which a head of a queue is decided about. The head's queue and
// the cohorts above it use what they use in then, so that no room is given away twice. All
// other queues and cohorts use what runs.
func (p *plan) seen(queueName string) (*preemption.Snapshot, error) {
	q, _ := p.then.Queue(queueName)
	if len(p.promised) == 0 || q.Preemption.ReclaimWithinCohort == queue.Never && !p.then.HasRules(queueName) {
		return p.then, nil // what others use decides nothing: it takes nothing from them
	}
	if err := p.catchUp(); err != nil {
		return nil, err
	}
	var edits []preemption.Edit
	for _, w := range p.promised[queueName] {
		if _, holds := p.runs.Find(w.ID); holds {
			edits = append(edits, preemption.Remove(w.ID))
		}
		edits = append(edits, preemption.Admit(w))
	}
	seen, err := p.runs.With(edits...)
	for _, cohort := range above(p.then, queueName) {
		if err != nil {
			return nil, err
		}
		rest := workload.PodSet{Name: "promised", Count: 1}
		rows, _ := seen.CohortStatus(cohort)
		used := make(map[quota.FlavorResource]int64, len(rows))
		for _, row := range rows {
			used[row.FlavorResource] = row.Usage
		}
		rows, _ = p.then.CohortStatus(cohort)
		for _, row := range rows {
			if more := quota.Sub(row.Usage, used[row.FlavorResource]); more > 0 {
				rest.Requests = append(rest.Requests, quota.Amount{Flavor: row.Flavor, Resource: row.Resource, Amount: more})
			}
		}
		if len(rest.Requests) > 0 {
			in := p.rooms[cohort]
			seen, err = seen.With(preemption.Admit(p.placeholder(workload.Workload{ID: in, Queue: in, PodSets: []workload.PodSet{rest}})))
		}
	}
	return seen, err
}
