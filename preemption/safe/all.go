package safe

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// Whether a request names a workload now is asked of all workloads together, by the queue of the requests: so the turns among the
// candidates of each queue are found once, and forgotten when the next one asks.

// open is a workload that no request is known to name.
type open struct {
	workload.Workload
	tried
	named *Request // now; nil: by none so far
	usage int      // what it uses, as a number
}

// group is what runs in one queue and is not named yet.
type group struct {
	of      *donor
	all     []*open
	reached map[reach]*[]*open // of all: what requests could ever take
}

// All answers for all workloads, by ID.
func (a *Asker) All() []Answer {
	a.all = true
	defer func() { a.all = false }()
	var all []*open
	groups := map[string]*group{} // by queue
	for w := range a.snapshot.Workloads() {
		o := &open{Workload: w, tried: tried{left: a.options.MaxDecisions}, usage: a.usageOf(&w)}
		if all = append(all, o); !w.Evicted && !w.NeverYields {
			if groups[w.Queue] == nil {
				groups[w.Queue] = &group{of: a.donorOf(w.Queue), reached: map[reach]*[]*open{}}
			}
			groups[w.Queue].all = append(groups[w.Queue].all, o)
		}
	}
	donors := map[string][]*group{} // by tree
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		donors[a.where.trees[name]] = append(donors[a.where.trees[name]], groups[name])
	}
	for _, root := range slices.Sorted(maps.Keys(donors)) {
		a.askNow(a.queuesOf(root), donors[root])
	}
	list := make([]Answer, len(all))
	a.followAll(all, list)
	return list
}

func isNamed(o *open) bool { return o.named != nil }

// usageOf returns a number that stands for what a workload uses of anything.
func (a *Asker) usageOf(w *workload.Workload) int {
	var uses []byte
	for _, u := range w.Usage() {
		if u.Amount > 0 {
			uses = append(append(append(append(uses, u.Flavor...), '/'), u.Resource...), ' ')
		}
	}
	return a.number(string(uses))
}

// askNow asks the requests of the queues of a tree at this instant, those for fewer resources first.
func (a *Asker) askNow(queues []*asking, donors []*group) {
	for size, more := 1, true; more; size++ {
		more = false
		for at, q := range queues {
			a.forget()
			for _, g := range donors {
				more = a.askOf(q, at, g, size) || more
			}
		}
	}
	a.forget()
}

// forget drops what was found for the queue that asked last.
func (a *Asker) forget() {
	clear(a.passes)
	clear(a.decisions)
	a.kept = 0
}

// rightsOf is what the rights of another queue over a workload depend on, where time changes nothing.
type rightsOf struct {
	priority int64
	usage    int // what it uses, as a number
}

// askOf asks requests of a queue about the workloads of another, or its own; more: it has quota for more resources.
func (a *Asker) askOf(q *asking, at int, g *group, size int) (more bool) {
	of, now := g.of, instant.Of(a.options.Now)
	threat := &of.all[at]
	if !threat.own && (!of.borrows || q.Preemption.ReclaimWithinCohort == queue.Never) {
		return false
	}
	known := map[rightsOf]exposures{}
	list := a.reachedOf(g, threat)
	defer func() { *list = slices.DeleteFunc(*list, isNamed) }()
	for _, o := range *list {
		if isNamed(o) {
			continue
		}
		if !threat.own && of.refuses(q) {
			return more
		}
		w := &o.Workload
		key := rightsOf{o.EffectivePriority(), o.usage}
		e, is := known[key]
		if !is {
			a.addRights(&e, w, q, nil)
			if a.timeless && !threat.own {
				known[key] = e
			}
		}
		a.tried = o.tried
		found, others := a.askEach(w, e.of, now, size)
		o.tried = a.tried
		o.named, more = found, more || others
	}
	return more
}

// reachedOf returns what requests of a queue could ever take of a group; all of it, if that is not known.
func (a *Asker) reachedOf(g *group, q *threat) *[]*open {
	if q.own {
		return &g.all
	}
	of := reach{common: q.common, columns: q.columns}
	list, known := g.reached[of]
	if !known {
		all := slices.DeleteFunc(slices.Clone(g.all), func(o *open) bool { return a.neverReached(&o.Workload, q) })
		list = &all
		g.reached[of] = list
	}
	return list
}
