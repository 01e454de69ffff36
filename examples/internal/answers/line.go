package answers

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
)

// headDecision is a decision about the head of a queue of StrictFIFO, which the answer about it needs again.
type headDecision struct {
	preemption.Decision
	looked int // workloads that it looked at
}

// Line sorts workloads that wait, numbers them in their queues, and holds back who stands behind a head that waits in a queue
// of StrictFIFO.
func (c *Cluster) Line(list []Waiting) { c.line(list, true) }

// LineForCycles is [Cluster.Line] for cycles, which hold back themselves: heads are decided about only where a doubt may pass from
// them to those behind.
func (c *Cluster) LineForCycles(list []Waiting) { c.line(list, false) }

func (c *Cluster) line(list []Waiting, holds bool) {
	slices.SortFunc(list, func(a, b Waiting) int { return CompareWaiting(&a.Workload, &b.Workload) })
	for start := 0; start < len(list); {
		end := start + 1
		for end < len(list) && list[end].Workload.Queue == list[start].Workload.Queue {
			end++
		}
		c.lineUp(list[start:end], holds || slices.ContainsFunc(list[start:end], func(w Waiting) bool { return w.mayBeUnknown() }))
		start = end
	}
}

// mayBeUnknown reports whether a decision may end in a verdict that is unknown.
func (w *Waiting) mayBeUnknown() bool {
	return len(w.Doubts)+len(w.TooLarge) > 0 || w.IfPreempts != ""
}

// lineUp numbers the workloads of one queue and, if that is asked, finds its head.
func (c *Cluster) lineUp(list []Waiting, holds bool) {
	q, _ := c.Snapshot.Queue(list[0].Workload.Queue)
	position, head := 0, -1
	var verdict Verdict // of the head
	decided := map[string]Verdict{}
	for i := range list {
		w := &list[i]
		if !w.inLine() {
			if w.HeldInLine && head < 0 && q.Strategy == queue.StrictFIFO {
				head, verdict = i, w.Verdict(nil)
			}
			continue
		}
		position++
		w.Position = position
		switch {
		case !holds || q.Strategy != queue.StrictFIFO:
		case head >= 0 && verdict.Outcome == Unknown:
			if len(w.Doubts) == 0 {
				w.NoStands = true // it may be held, which is a no, too
			}
			w.Doubts = append(slices.Clip(w.Doubts), fmt.Sprintf("it stands behind %s in a queue of StrictFIFO, and whether that one waits is unknown: %s", list[head].Workload.ID, verdict.Why))
		case head >= 0:
			w.Behind = list[head].Workload.ID
		default:
			if v := c.verdictOf(w, decided); v.Outcome != preemption.Fits.String() {
				head, verdict = i, v
			}
		}
	}
}

// verdictOf is the verdict about a workload as if it were alone; decided are those so far, by what tells workloads apart.
func (c *Cluster) verdictOf(w *Waiting, decided map[string]Verdict) Verdict {
	if !w.decided() {
		return w.Verdict(nil)
	}
	kind := c.kind(w)
	if v, known := decided[kind]; known {
		return v
	}
	d, looked, err := c.Preemptor.DecideCounting(c.Snapshot, w.Request)
	if err != nil {
		return Verdict{Outcome: Unknown, Why: Faults(err).Error()}
	}
	w.head = &headDecision{d, looked}
	decided[kind] = w.Verdict(&d)
	return decided[kind]
}
