package loop

import (
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// claim is the right of a waiting job to the room that victims leave. A job that waits for
// victims on their way to a checkpoint holds one from the decision until it starts. It is not
// in its queue meanwhile, so that other jobs of the queue ask. In each cycle the jobs with
// claims are served first: what they wait for is promised to them, and goes neither to other
// heads nor back to the victims. Heads of the highest priority know a claim only once its
// victims have stopped. They may take the room of others; a claim that can then not be met
// without more victims is met with them, or is void, and the job is in its queue again.
type claim struct{ workload workload.Workload }

// claim gives a job a claim, keeps it or takes it away. back says that it was taken away: the
// job is in its queue again.
func (l *Loop) claim(w workload.Workload, claims bool) (back bool, err error) {
	i := slices.IndexFunc(l.claims, func(c claim) bool { return c.workload.ID == w.ID })
	switch {
	case claims && i < 0:
		l.claims = append(l.claims, claim{w})
		l.pending, err = l.pending.Remove(w.ID)
	case !claims && i >= 0:
		l.claims = slices.Delete(l.claims, i, i+1)
		l.pending, err = l.pending.Add(w)
		return true, err
	}
	return false, err
}

// patient says that victims may go on to their checkpoints for a head: it is not of the highest
// priority.
func (l *Loop) patient(h queue.Head) bool {
	return l.policy.wait > 0 && h.Workload.Priority < l.highest
}

// heads returns the heads of a round: its own, and those of the other round that were promised
// room. In a queue that is StrictFIFO a claim keeps all others from asking, except for the
// highest priority.
func (l *Loop) heads(r *round) (own, promised []queue.Head) {
	for _, c := range l.claims {
		if h := (queue.Head{Workload: c.workload, Preempting: true}); r.patient {
			own = append(own, h)
		} else {
			promised = append(promised, h)
		}
	}
	for _, h := range l.pending.Heads() {
		behind := l.world.Strategy == queue.StrictFIFO && slices.ContainsFunc(l.claims, func(c claim) bool { return c.workload.Queue == h.Workload.Queue })
		switch patient := l.patient(h); {
		case patient == r.patient && !(patient && behind):
			own = append(own, h)
		case !patient && h.Preempting:
			promised = append(promised, h)
		}
	}
	return own, promised
}

// decide runs a cycle of the heads of a round. Those of the other round are in it for their
// promises alone. A promise counts if its head waits for victims that leave, and for nothing
// else: for the highest priority that is no claim on a job that goes on to a checkpoint, which
// still runs there.
func (l *Loop) decide(r *round, own, promised []queue.Head) ([]cycle.HeadResult, error) {
	seen, err := l.seen(r)
	if err != nil {
		return nil, err
	}
	for {
		result, err := r.cycle.Run(seen, slices.Concat(own, promised), at(l.now))
		if err != nil {
			return nil, err
		}
		others := slices.DeleteFunc(slices.Clone(result.Heads), func(h cycle.HeadResult) bool { return l.patient(h.Head) == r.patient })
		kept := slices.DeleteFunc(slices.Clone(promised), func(h queue.Head) bool {
			return slices.ContainsFunc(others, func(o cycle.HeadResult) bool {
				return o.Head.Workload.ID == h.Workload.ID && o.Outcome != cycle.Admit && (o.Outcome != cycle.Wait || o.Reason != queue.PendingPreemption)
			})
		})
		if len(kept) == len(promised) {
			return slices.DeleteFunc(result.Heads, func(h cycle.HeadResult) bool { return l.patient(h.Head) != r.patient }), nil
		}
		promised = kept
	}
}

// seen is the snapshot that a cycle sees. For heads that are not patient the jobs that go on to a
// checkpoint still run: their room comes too late, and they may be told to stop at once.
func (l *Loop) seen(r *round) (*preemption.Snapshot, error) {
	l.goingOn = slices.DeleteFunc(l.goingOn, func(i int) bool {
		return l.jobs[i] == nil || l.jobs[i].state != leaving || l.jobs[i].stops <= l.now
	})
	if r.patient || len(l.goingOn) == 0 {
		return l.snapshot, nil
	}
	var edits []preemption.Edit
	for _, i := range l.goingOn {
		w, _ := l.snapshot.Find(l.jobs[i].ID)
		w.Evicted = false
		edits = append(edits, preemption.Admit(w))
	}
	return l.snapshot.With(edits...)
}

// hurry stops a job at once that goes on to a checkpoint.
func (l *Loop) hurry(j *job) {
	if j.stops > l.now {
		j.stops = l.now
		l.plan(l.now+l.world.Grace, leaves, l.index[j.ID])
	}
}
