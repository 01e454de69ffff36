package right

import (
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue/limits"
)

// tally counts, for each limit, the workloads that were taken so far in a search. It follows the list of victims,
// which grows and shrinks at its end, so that a question need not look at each victim.
type tally struct {
	list  []tallied                 // as the victims, in order
	last  map[*cluster.Workload]int // the last of a workload: a workload counts as it was taken last
	count map[countedKey]int64
}

// tallied is a victim as limits read it.
type tallied struct {
	workload *cluster.Workload
	byRules  bool
	taking   int32
	class    limits.Class
	before   int // the one before of the same workload; -1: none
}

func (t *tally) reset() {
	t.list = t.list[:0]
	clear(t.last)
	clear(t.count)
}

// follow brings the tally up to date with the victims taken.
func (l *Limiter) follow(taken []Victim) {
	t := &l.tally
	is := func(n int) bool {
		v := &taken[n]
		return t.list[n].workload == v.Workload && t.list[n].byRules == v.ByRules && t.list[n].taking == v.Taking
	}
	for n := len(t.list); n > 0 && (n > len(taken) || !is(n-1)); n-- {
		of := t.list[n-1]
		t.list = t.list[:n-1]
		l.add(&of, -1)
		if delete(t.last, of.workload); of.before >= 0 {
			t.last[of.workload] = of.before
			l.add(&t.list[of.before], 1)
		}
	}
	for n := len(t.list); n < len(taken); n++ {
		v := &taken[n]
		of := tallied{v.Workload, v.ByRules, v.Taking, l.class(v), -1}
		if before, again := t.last[v.Workload]; again {
			of.before = before
			l.add(&t.list[before], -1)
		}
		if t.last == nil {
			t.last, t.count = map[*cluster.Workload]int{}, map[countedKey]int64{}
		}
		t.last[v.Workload] = n
		t.list = append(t.list, of)
		l.add(&of, 1)
	}
}

// add adds a victim to what each limit counts, unless it is being evicted already.
func (l *Limiter) add(of *tallied, by int64) {
	if of.workload.Facts.Evicted {
		return
	}
	for i := range l.Limits {
		if limit := &l.Limits[i]; limit.Scope != limits.PreemptedWorkload && limit.Covers(&of.class, l.labels) {
			l.tally.count[togetherKey(i, limit.Scope, &of.class)] += by
		}
	}
}

// taken returns how many workloads that were taken a limit counts together with a victim, without the victim's own. A
// workload of which the policies took replicas and then rules the rest is taken by the rules.
func (l *Limiter) taken(limit int, class *limits.Class, victim *cluster.Workload) int64 {
	of, t := &l.Limits[limit], &l.tally
	if of.Scope == limits.PreemptedWorkload {
		return 0
	}
	count := t.count[togetherKey(limit, of.Scope, class)]
	if n, is := t.last[victim]; is && !victim.Facts.Evicted {
		if own := &t.list[n].class; togetherKey(limit, of.Scope, own) == togetherKey(limit, of.Scope, class) && of.Covers(own, l.labels) {
			count--
		}
	}
	return count
}

// togetherKey is the same for two preemptions of different workloads if a limit counts them together.
func togetherKey(limit int, s limits.Scope, class *limits.Class) countedKey {
	key := countedKey{limit: limit}
	switch s {
	case limits.PreemptingClusterQueue:
		key.name = class.PreemptingQueue
	case limits.PreemptedClusterQueue:
		key.name = class.PreemptedQueue
	}
	return key
}
