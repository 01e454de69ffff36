package right

import (
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue/limits"
)

// Limiter asks the limits on preemptions during a decision. It answers for one victim after
// another, at one instant after another; see limits_next.go for the instants.
type Limiter struct {
	Limits  []limits.Limit
	History *limits.History
	// Queue is the name of the preemptor's queue.
	Queue   string
	Cluster *cluster.Cluster
	// ByRules returns what selectors of limits read of a victim of rules at an instant.
	ByRules func(v *Victim, now int64) limits.Class
	// Refused holds, by limit, the first workload that it refused, until [Limiter.Explained].
	Refused   []*cluster.Workload
	explained bool

	now     int64
	classOf map[*cluster.Workload]limits.Class // of victims by rules, now
	known   map[countedKey]*counted            // now
	counts  []*counted                         // those known, in the order of the questions
	waits   []wait                             // of the search that began last
	begun   bool                               // it began now
	tally   tally                              // of that search
	looks   int                                // events looked at
}

func (l *Limiter) labels(name string) map[string]string {
	if node, known := l.Cluster.QueueNode(name); known {
		return l.Cluster.Queue(node).Labels
	}
	return nil
}

// counted is what a limit counts together, in the history at one instant.
type counted struct {
	limits.Together
	count int64
	// noted is the largest count at which a workload that this limit alone refused is not refused; -1: there
	// is no such workload, or it is never.
	noted int64
	// asked is how many victims a search of sets asked about.
	asked int64
	// falls is when the count falls to fallsTo; -1: that was not asked.
	fallsTo, falls int64
}

type countedKey struct {
	limit int
	name  string // of the queue or workload
}

// wait is what keeps a victim that several limits refused: until the last count has fallen.
type wait struct {
	*counted
	to   int64
	more bool // the next wait is of the same victim
}

// begin notes that a search at an instant begins.
func (l *Limiter) begin(now int64) {
	l.moveTo(now)
	l.tally.reset()
	l.begun, l.waits = true, l.waits[:0]
	for _, c := range l.counts {
		c.noted, c.asked = -1, 0
	}
}

// moveTo forgets what was true at another instant.
func (l *Limiter) moveTo(now int64) {
	if now == l.now {
		return
	}
	l.now, l.classOf, l.begun = now, nil, false
	clear(l.known)
	l.tally.reset()
	l.counts, l.waits = l.counts[:0], l.waits[:0]
}

// counted counts the events that a limit counts together with a victim.
func (l *Limiter) counted(limit int, class *limits.Class, victim string) *counted {
	of := &l.Limits[limit]
	key := countedKey{limit: limit}
	switch of.Scope {
	case limits.PreemptedClusterQueue:
		key.name = class.PreemptedQueue
	case limits.PreemptedWorkload:
		key.name = victim
	}
	if c := l.known[key]; c != nil {
		return c
	}
	c := &counted{noted: -1, fallsTo: -1}
	c.Together = limits.Together{Limit: of, PreemptingQueue: l.Queue, PreemptedQueue: class.PreemptedQueue, Victim: victim, Labels: l.labels}
	var looks int
	c.count, looks = l.History.Counted(&c.Together, instant.Time(l.now))
	l.looks += looks
	if l.known == nil {
		l.known = map[countedKey]*counted{}
	}
	l.known[key] = c
	l.counts = append(l.counts, c)
	return c
}
