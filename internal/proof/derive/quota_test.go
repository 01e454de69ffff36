package derive

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

func (w *world) addConfig(l *line) error {
	c := &w.config
	l.constant("sharing", &c.Sharing)
	for _, text := range l.list("strategies") {
		var s preemption.FairStrategy
		if err := s.UnmarshalText([]byte(text)); err != nil {
			l.fail("strategies: %v", err)
		}
		c.Strategies = append(c.Strategies, s)
	}
	c.Compat.Kueue016 = l.flag("kueue016") || c.Compat.Kueue016
	c.Compat.RulesAlone = l.flag("rulesAlone") || c.Compat.RulesAlone
	l.minRuntime(&c.MinRuntime.Preempt, &c.MinRuntime.Reclaim)
	l.constant("method", &c.MinRuntime.Method)
	n := &w.nodesConfig
	l.constant("mode", &n.Mode)
	l.constant("order", &n.Order)
	l.constant("budgets", &n.Budgets)
	if most := l.number("maxCandidates"); most != 0 {
		w.sampling.MaxDomains = int(most)
	}
	if first := l.number("firstNode"); first != 0 {
		w.sampling.FirstNode = int(first)
	}
	return l.end(false)
}

func (l *line) minRuntime(preempt, reclaim *quota.OptionalDuration) {
	if d, ok := l.duration("preemptMin"); ok {
		*preempt = quota.Some(d)
	}
	if d, ok := l.duration("reclaimMin"); ok {
		*reclaim = quota.Some(d)
	}
}

func (l *line) weight() (weight quota.OptionalFloat64) {
	if _, ok := l.get("weight"); ok {
		i := slices.IndexFunc(l.options, func(o option) bool { return o.key == "weight" })
		if err := weight.UnmarshalJSON([]byte(l.options[i].value)); err != nil {
			l.fail("weight: %v", err)
		}
	}
	return weight
}

func (w *world) addCohort(l *line) error {
	c := queue.Cohort{Name: l.name, Parent: l.text("in"), FairWeight: l.weight()}
	l.minRuntime(&c.MinRuntime.Preempt, &c.MinRuntime.Reclaim)
	c.Quotas = l.quotas()
	w.state.Cohorts = append(w.state.Cohorts, c)
	return l.end(true)
}

func (w *world) addQueue(l *line) error {
	q := queue.Queue{Name: l.name, Cohort: l.text("in"), FairWeight: l.weight(), Rules: l.text("rules"), Labels: l.labels()}
	p := &q.Preemption
	l.constant("within", &p.WithinClusterQueue)
	l.constant("reclaim", &p.ReclaimWithinCohort)
	l.constant("borrowing", &p.BorrowWithinCohort.Policy)
	if value, ok := l.get("threshold"); ok {
		p.BorrowWithinCohort.MaxPriorityThreshold = queue.AtMostPriority(l.integer("threshold", value))
	}
	if d, ok := l.duration("minAdmit"); ok {
		p.MinAdmitDuration = quota.Some(d)
	}
	f := &q.FlavorFungibility
	l.constant("whenCanBorrow", &f.WhenCanBorrow)
	l.constant("whenCanPreempt", &f.WhenCanPreempt)
	l.constant("preference", &f.Preference)
	l.minRuntime(&q.MinRuntime.Preempt, &q.MinRuntime.Reclaim)
	q.Quotas = l.quotas()
	w.state.Queues = append(w.state.Queues, q)
	return l.end(true)
}

func (w *world) addRunning(l *line) error {
	v := l.workload()
	v.Evicted, v.NeverYields = l.flag("evicted"), l.flag("neverYields")
	v.ReservedAt = l.ago("since")
	v.Queued, v.Created = v.ReservedAt, v.ReservedAt
	l.queueOrder(&v)
	w.state.Admitted = append(w.state.Admitted, v)
	return l.end(true)
}

// queueOrder reads the timestamps that differ from the start.
func (l *line) queueOrder(v *workload.Workload) {
	if t := l.ago("queued"); !t.IsZero() {
		v.Queued = t
	}
	if t := l.ago("created"); !t.IsZero() {
		v.Created = t
	}
}

// workload reads what pending and running workloads have in common. Options after set= are
// those of that pod set.
func (l *line) workload() workload.Workload {
	v := workload.Workload{ID: l.name, Queue: l.text("in"), UID: l.text("uid"), LocalQueue: l.text("local"), Labels: l.labels(),
		PriorityClass: l.text("class"), Priority: l.number("priority"), PriorityBoost: l.number("boost")}
	set := workload.PodSet{Name: "main", Count: 1}
	add := func() {
		if len(set.Requests) > 0 {
			v.PodSets = append(v.PodSets, set)
		}
	}
	for i := range l.options {
		o := &l.options[i]
		if o.used || !o.set {
			continue
		}
		fr, isColumn := column(o.key)
		switch {
		case o.key == "set":
			add()
			set = workload.PodSet{Name: o.value, Count: 1}
		case o.key == "pods":
			set.Count = l.integer(o.key, o.value)
		case o.key == "min":
			set.MinCount = workload.AtLeast(l.integer(o.key, o.value))
		case o.key == "leaving":
			set.Terminating = l.integer(o.key, o.value)
		case isColumn:
			set.Requests = append(set.Requests, quota.Amount{Flavor: fr.Flavor, Resource: fr.Resource, Amount: l.amount(*o)})
		default:
			continue
		}
		o.used = true
	}
	add()
	return v
}

// request reads a question about quota.
func (l *line) request() preemption.Request {
	r := preemption.Request{Now: noon}
	if d, ok := l.duration("now"); ok {
		r.Now = noon.Add(d)
	}
	for _, text := range l.list("usage") {
		name, number, _ := strings.Cut(text, ":")
		usage, err := strconv.ParseFloat(number, 64)
		if err != nil {
			l.fail("usage=%s is not LOCAL:NUMBER", text)
		}
		r.LocalQueueUsage = append(r.LocalQueueUsage, queue.LocalQueueUsage{LocalQueue: name, Usage: usage})
	}
	r.TriggersSince = l.observed()
	for _, key := range l.list("needs") {
		fr, ok := column(key)
		if !ok {
			l.fail("needs=%s is no resource", key)
		}
		r.NeedsPreemption = append(r.NeedsPreemption, fr)
	}
	r.Workload = l.workload()
	if l.name == "" {
		r.Workload.ID = "pending"
	}
	r.Workload.Queued, r.Workload.Created = r.Now, r.Now
	l.queueOrder(&r.Workload)
	r.Workload.NeverPreempts = l.flag("neverPreempts")
	r.Workload.Gates.Names = l.list("gates")
	for _, name := range l.list("open") {
		r.Workload.Gates.States = append(r.Workload.Gates.States, gate.State{Name: name, Position: gate.Open, Since: r.Now})
	}
	l.name = ""
	l.end(false)
	return r
}
