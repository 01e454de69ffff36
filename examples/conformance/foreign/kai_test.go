package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// kaiCase is a record of KAI's minimum runtimes: resolved for pairs of queues, or applied to victims of an action.
//
// Each of its queues is a cohort here, because it need not be a leaf. What runs in it is in a leaf of its own, and so is what
// asks: then the lowest common cohort of both is that of KAI's queues. A victim uses a flavor of its own, so that a request
// for this flavor asks about this victim. The first instant at which it yields is one nanosecond after its minimum runtime.
type kaiCase struct {
	Defaults struct {
		Preempt text `json:"preempt"`
		Reclaim text `json:"reclaim"`
	} `json:"defaults"`
	Queues []struct {
		Name    string `json:"name"`
		Parent  string `json:"parent"`
		Preempt *text  `json:"preemptMinRuntime"`
		Reclaim *text  `json:"reclaimMinRuntime"`
	} `json:"queues"`

	Action    string            `json:"action"` // empty: pairs
	Method    minruntime.Method `json:"reclaimResolveMethod"`
	Preemptor struct {
		Queue string `json:"queue"`
	} `json:"preemptor"`
	Victim    *kaiVictim    `json:"victim"`
	Victims   []kaiVictim   `json:"victims"`
	Want      kaiWants      `json:"want"`
	Wants     []kaiWant     `json:"wants"`
	Scenarios []kaiScenario `json:"scenarios"`
}

// text is a Go duration in JSON.
type text time.Duration

func (d *text) UnmarshalText(data []byte) error {
	parsed, err := time.ParseDuration(string(data))
	*d = text(parsed)
	return err
}

// kaiWants is one want, or one of each pair.
type kaiWants []kaiWant

// UnmarshalJSON reads an object or a list.
func (w *kaiWants) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		data = append(append([]byte{'['}, data...), ']')
	}
	return json.Unmarshal(data, (*[]kaiWant)(w))
}

type kaiWant struct {
	// Of a pair.
	Preemptor    *string `json:"preemptor"`
	Preemptee    *string `json:"preemptee"`
	Preempt      *text   `json:"preempt"`
	PreemptError bool    `json:"preemptError"`
	LCA          *text   `json:"reclaimLCA"`
	LCAError     bool    `json:"reclaimLCAError"`
	Queue        *text   `json:"reclaimQueue"`
	QueueError   bool    `json:"reclaimQueueError"`
	// Of a victim.
	Victim     string `json:"victim"`
	MinRuntime text   `json:"minRuntime"`
	Elastic    bool   `json:"elastic"`
	Protected  bool   `json:"protected"`
	Passes     bool   `json:"passesFilter"`
}

type kaiVictim struct {
	Name      string     `json:"name"`
	Queue     string     `json:"queue"`
	Age       *text      `json:"age"` // since its start; absent: never started
	ZeroStart bool       `json:"zeroStart"`
	SubGroups []subGroup `json:"subGroups"`
}

type subGroup struct {
	Name         string           `json:"name"`
	MinAvailable int64            `json:"minAvailable"`
	Pods         map[string]int64 `json:"pods"` // by status
	Total        int64            `json:"total"`
	Active       int64            `json:"active"` // what KAI counts as running
}

// running is how many replicas run and are not terminating.
func (g *subGroup) running() int64 { return g.Active - g.Pods["Releasing"] }

type kaiScenario struct {
	Evict []struct {
		Victim   string `json:"victim"`
		SubGroup string `json:"subGroup"`
		Count    int64  `json:"count"`
	} `json:"evict"`
	Valid bool `json:"valid"`
}

func (k *kaiCase) convert(c *recorded.Case) error {
	if k.Action == "" {
		c.Quota = k.pairs()
		return nil
	}
	if err := known("action", k.Action, "preempt", "reclaim"); err != nil {
		return err
	}
	c.Quota = k.protections()
	return nil
}

// state returns the tree of the case. A missing parent makes its child a root, as in KAI's resolver: the roots are below one
// cohort here, so that one may reclaim from another.
func (k *kaiCase) state() *preemption.State {
	st := &preemption.State{Cohorts: []queue.Cohort{{Name: "all"}}}
	setting := func(d *text) (o quota.OptionalDuration) {
		if d != nil {
			o = quota.Some(time.Duration(*d))
		}
		return o
	}
	for _, q := range k.Queues {
		co := queue.Cohort{Name: q.Name, Parent: "all", MinRuntime: minruntime.Settings{Preempt: setting(q.Preempt), Reclaim: setting(q.Reclaim)}}
		for _, other := range k.Queues {
			if other.Name == q.Parent {
				co.Parent = q.Parent
			}
		}
		st.Cohorts = append(st.Cohorts, co)
	}
	return st
}

func (k *kaiCase) config(m minruntime.Method) *preemption.Config {
	return &preemption.Config{MinRuntime: minruntime.Defaults{Method: m,
		Preempt: quota.Some(time.Duration(k.Defaults.Preempt)), Reclaim: quota.Some(time.Duration(k.Defaults.Reclaim)),
	}}
}

// leaf adds a queue below one of the case's, if it is not there, and returns it.
func leaf(st *preemption.State, of, name string) *queue.Queue {
	name = of + "/" + name
	at := slices.IndexFunc(st.Queues, func(q queue.Queue) bool { return q.Name == name })
	if at < 0 {
		at = len(st.Queues)
		st.Queues = append(st.Queues, queue.Queue{Name: name, Cohort: of, Preemption: queue.PreemptionPolicy{
			WithinClusterQueue: queue.LowerPriority, ReclaimWithinCohort: queue.Any,
		}})
	}
	return &st.Queues[at]
}

// runs adds a workload in the leaf of a queue, with all the quota that it uses: nominal quota of the leaf of the asking queue.
func runs(st *preemption.State, asks, of string, w workload.Workload) {
	w.Queue = leaf(st, of, "runs").Name
	st.Admitted = append(st.Admitted, w)
	q := leaf(st, asks, "asks")
	for _, a := range w.Usage() {
		at := slices.IndexFunc(q.Quotas, func(e quota.Quota) bool { return e.FlavorResource() == a.FlavorResource() })
		if at < 0 {
			q.Quotas = append(q.Quotas, quota.Quota{Flavor: a.Flavor, Resource: a.Resource, Nominal: a.Amount})
		} else {
			q.Quotas[at].Nominal = max(q.Quotas[at].Nominal, a.Amount)
		}
	}
}

func podSet(name string, count int64, flavor string) workload.PodSet {
	return workload.PodSet{Name: name, Count: count, Requests: []quota.Amount{{Flavor: flavor, Resource: name, Amount: 1}}}
}

// asks returns a request of a queue for what pod sets use.
func asks(queue string, at time.Time, sets ...workload.PodSet) preemption.Request {
	return preemption.Request{Now: at, Workload: workload.Workload{ID: "asks", Queue: queue, Priority: 1, PodSets: sets}}
}

// pairs asks when the victims of pairs of queues yield, by both methods.
func (k *kaiCase) pairs() (list []recorded.Question) {
	st := k.state()
	for i, w := range k.Want {
		p, v := orEmpty(w.Preemptor), orEmpty(w.Preemptee)
		if !k.has(p) {
			p = v
		}
		if k.has(v) {
			flavor := fmt.Sprint(i)
			runs(st, p, v, workload.Workload{ID: flavor, ReservedAt: someTime, PodSets: []workload.PodSet{podSet("gpu", 1, flavor)}})
		}
	}
	question := func(i int, from string, want *text, failed bool) {
		if want == nil && !failed {
			return
		}
		q := recorded.Question{Request: asks(from, someTime, podSet("gpu", 1, fmt.Sprint(i)))}
		if q.Want.Refused = failed; !failed {
			q.Want.RetryAt = after(*want)
		}
		list = append(list, q)
	}
	for i, w := range k.Want {
		question(i, orEmpty(w.Preemptee)+"/runs", w.Preempt, w.PreemptError)
	}
	for i, w := range k.Want {
		question(i, k.either(w)+"/asks", w.LCA, w.LCAError)
	}
	byQueue := len(list)
	for i, w := range k.Want {
		question(i, k.either(w)+"/asks", w.Queue, w.QueueError)
	}
	if byQueue < len(list) {
		list[byQueue].Config = k.config(minruntime.Queue)
	}
	if len(list) > 0 {
		list[0].State = st
		if byQueue > 0 {
			list[0].Config = k.config(minruntime.LCA)
		}
	}
	return list
}

// after returns the first instant at which what starts now yields after a minimum runtime: the zero time if at once, or never.
func after(minimum text) *time.Time {
	at := someTime.Add(time.Duration(minimum)).Add(1)
	if minimum <= 0 || at.Year() > 2200 { // the last instant is in 2262
		at = time.Time{}
	}
	return &at
}

func orEmpty(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

func (k *kaiCase) has(name string) bool {
	for _, q := range k.Queues {
		if q.Name == name {
			return true
		}
	}
	return false
}

// either returns the asking queue of a pair; the other one if that is unknown, since no leaf is asked then.
func (k *kaiCase) either(w kaiWant) string {
	if p := orEmpty(w.Preemptor); !k.has(p) || k.has(orEmpty(w.Preemptee)) {
		return p
	}
	return orEmpty(w.Preemptee)
}

// protections asks about each victim and each scenario.
func (k *kaiCase) protections() (list []recorded.Question) {
	victims, wants := k.Victims, k.Wants
	if k.Victim != nil {
		victims = append(victims, *k.Victim)
	}
	for _, w := range k.Want {
		w.Victim = k.Victim.Name
		wants = append(wants, w)
	}
	byName := map[string]*kaiVictim{}
	verdicts := map[string]kaiWant{}
	for i := range victims {
		byName[victims[i].Name] = &victims[i]
	}
	for _, w := range wants {
		v := byName[w.Victim]
		verdicts[w.Victim] = w
		list = append(list, k.verdict(v, &w)...)
	}
	for _, s := range k.Scenarios {
		if q, ok := k.scenario(victims, verdicts, &s); ok {
			list = append(list, q)
		}
	}
	if len(list) > 0 {
		list[0].Config = k.config(k.Method)
	}
	return list
}

// from returns the queue that asks for a victim.
func (k *kaiCase) from(v *kaiVictim) string {
	if k.Action == "preempt" {
		return v.Queue + "/runs"
	}
	return k.Preemptor.Queue + "/asks"
}

// start returns when a victim started; the zero time if it never did.
func (v *kaiVictim) start() time.Time {
	if v.Age == nil || v.ZeroStart {
		return time.Time{}
	}
	return someTime.Add(-time.Duration(*v.Age))
}

// workload returns a victim with so many replicas of each sub group.
func (v *kaiVictim) workload(start time.Time, count func(*subGroup) int64) workload.Workload {
	w := workload.Workload{ID: v.Name, ReservedAt: start}
	for i := range v.SubGroups {
		g := &v.SubGroups[i]
		if n := count(g); n > 0 {
			set := podSet(g.Name, n, v.Name)
			set.MinCount = workload.AtLeast(g.MinAvailable)
			w.PodSets = append(w.PodSets, set)
		}
	}
	return w
}

// verdict asks for the minimum of a victim, whether it is protected, and whether it passes the filter.
func (k *kaiCase) verdict(v *kaiVictim, w *kaiWant) (list []recorded.Question) {
	rigid := workload.Workload{ID: v.Name, PodSets: []workload.PodSet{podSet("gpu", 1, v.Name)}}
	at := func(start time.Time) *preemption.State {
		st := k.state()
		rigid.ReservedAt = start
		runs(st, k.Preemptor.Queue, v.Queue, rigid)
		return st
	}
	minimum := recorded.Question{State: at(someTime), Request: asks(k.from(v), someTime, rigid.PodSets[0])}
	minimum.Want.RetryAt = after(w.MinRuntime)
	protected := recorded.Question{State: at(v.start()), Request: minimum.Request}
	protected.Want.Possible = ptr(!w.Protected)
	list = append(list, minimum, protected)
	for _, of := range []struct {
		start    time.Time
		possible bool
	}{{v.start(), w.Passes}, {someTime, w.Elastic}} {
		if set, ok := v.surplus(); ok && (w.MinRuntime > 0 || of.start != someTime) {
			q := recorded.Question{Request: asks(k.from(v), someTime, set), Want: recorded.Want{Possible: ptr(of.possible)}}
			q.State = k.with([]kaiVictim{*v}, &of.start, (*subGroup).running)
			if total := func(g *subGroup) int64 { return g.Total }; differs(v, total) {
				q.Counted = k.with([]kaiVictim{*v}, &of.start, total)
			}
			list = append(list, q)
		}
	}
	return list
}

// surplus returns a replica over the minimum of its sub group; if there is none, any replica.
func (v *kaiVictim) surplus() (set workload.PodSet, ok bool) {
	for _, holds := range []func(*subGroup) bool{
		func(g *subGroup) bool { return g.running() > g.MinAvailable },
		func(g *subGroup) bool { return g.Total > g.MinAvailable },
		func(g *subGroup) bool { return g.running() > 0 },
	} {
		for i := range v.SubGroups {
			if g := &v.SubGroups[i]; holds(g) {
				return podSet(g.Name, 1, v.Name), true
			}
		}
	}
	return set, false
}

// with returns the state with victims, all of the given start if there is one.
func (k *kaiCase) with(victims []kaiVictim, start *time.Time, count func(*subGroup) int64) *preemption.State {
	st := k.state()
	for i := range victims {
		at := victims[i].start()
		if start != nil {
			at = *start
		}
		runs(st, k.Preemptor.Queue, victims[i].Queue, victims[i].workload(at, count))
	}
	leaf(st, k.Preemptor.Queue, "asks")
	return st
}

// differs reports whether another number of replicas counts than of those that run.
func differs(v *kaiVictim, count func(*subGroup) int64) bool {
	for i := range v.SubGroups {
		if g := &v.SubGroups[i]; count(g) != g.running() {
			return true
		}
	}
	return false
}

// scenario asks for the replicas of a scenario. It leaves out victims of which the filter says all.
func (k *kaiCase) scenario(victims []kaiVictim, wants map[string]kaiWant, s *kaiScenario) (q recorded.Question, ok bool) {
	active := func(g *subGroup) int64 { return g.Active }
	var counted bool
	for i := range victims {
		v := &victims[i]
		w := wants[v.Name]
		counted = counted || differs(v, active)
		for j := range v.SubGroups {
			g, lost := &v.SubGroups[j], int64(0)
			for _, e := range s.Evict {
				if e.SubGroup == g.Name && (e.Victim == v.Name || e.Victim == "") {
					lost += e.Count
				}
			}
			if !w.Protected {
				lost = min(lost, g.running()) // all may go
			}
			if lost > 0 && !(w.Protected && !w.Elastic) {
				q.Request.Workload.PodSets = append(q.Request.Workload.PodSets, podSet(g.Name, lost, v.Name))
			}
		}
	}
	sets := q.Request.Workload.PodSets
	for i := range sets {
		sets[i].Name = fmt.Sprint(i) // two victims may have sub groups of one name
	}
	q.Request = asks(k.from(&victims[0]), someTime, sets...)
	q.State, q.Want.Possible = k.with(victims, nil, (*subGroup).running), &s.Valid
	if counted {
		q.Counted = k.with(victims, nil, active)
	}
	return q, len(sets) > 0
}
