package preemption

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/best"
	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/decide"
	"github.com/cedesched/cede/internal/engine/right"
	engine "github.com/cedesched/cede/internal/engine/rules"
	"github.com/cedesched/cede/internal/engine/search"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// scratch is the working memory of a decision. Names become integers in enter and names again
// in leave; between them there is no map and no string.
type scratch struct {
	searcher decide.Searcher
	request  right.Request
	names    []quota.FlavorResource // of the slots of the request
	open     open
	rules    engine.Taker
	byRules  bool              // the queue has rules, which the taker has
	waiting  workload.Workload // that rules are asked about
	naming   naming
	// What an explanation says of the search Best, if one is made.
	history *best.History
}

// enter checks a request and puts it into dense form.
func (sc *scratch) enter(s *Snapshot, config *Config, r *Request) error {
	var faults fault.List
	c, w := s.inside(), &r.Workload
	if workload.ValidatePending("", w) != nil { // building paths costs more than the check
		faults = workload.ValidatePending("request.workload", w).(fault.List)
	}
	node, known := c.QueueNode(w.Queue)
	if w.Queue != "" && !known {
		faults.Add("request.workload.queue", "unknown queue %q", w.Queue)
	}
	if _, admitted := c.Find(w.ID); admitted {
		faults.Add("request.workload.id", "%q is admitted already", w.ID)
	}
	if r.Now.IsZero() {
		faults.Add("request.now", "is not set")
	} else if !instant.Valid(r.Now) {
		faults.Add("request.now", "%v is not within %s", r.Now, instant.Range)
	}
	if len(r.TriggersSince) > 0 {
		more, _ := rules.ValidateObservations("request.triggersSince", r.TriggersSince).(fault.List)
		faults = append(faults, more...)
	}
	if config.Sharing == KAI && (s == nil || s.shares == nil) {
		faults.Add("config.Sharing", "is KAI, but the snapshot has no fair shares")
	}
	if err := faults.Err(); err != nil {
		return err
	}
	d := &sc.request
	d.Queue = node
	d.Priority = w.EffectivePriority()
	d.Queued, d.Now = instant.Of(w.Queued), instant.Of(r.Now)
	d.MinAdmit = 0
	d.FindNeeds = len(r.NeedsPreemption) == 0
	d.Guard, d.Retry = config.guard(r), right.Retry{Skip: config.MaxRetrySteps < 0, MaxSteps: config.maxRetrySteps()}
	d.Room, d.LocalQueueUsage = r.Room, r.usages(&faults)
	d.Forecast = false
	d.Fair, d.WithinNominal = config.fairness(), config.Compat.PreemptWithinNominal
	d.Entitled, d.NeverYields = nil, w.NeverYields
	if config.Sharing == KAI {
		d.Entitled = s.shares.dense
	}
	config.enterSearch(d)
	d.Better.Cost = config.enterCost(r.Now)
	sc.enterRules(s, config, r)
	sc.enterLimits(s, config, r)
	d.MinRuntime = config.MinRuntime
	d.Protection = config.Protection
	if min, ok := c.Queue(node).Preemption.MinAdmitDuration.Get(); ok {
		d.MinAdmit = int64(min)
	}
	d.Columns, d.Amounts, d.Needs, sc.names = d.Columns[:0], d.Amounts[:0], d.Needs[:0], sc.names[:0]
	for i := range w.PodSets {
		for _, a := range w.PodSets[i].Requests {
			if a.Flavor == "" {
				continue
			}
			slot := sc.slot(c, a.FlavorResource())
			d.Amounts[slot] = quota.Add(d.Amounts[slot], w.PodSets[i].Total(a.Amount))
		}
	}
	for i, fr := range r.NeedsPreemption {
		slot := slices.Index(sc.names, fr)
		if slot < 0 {
			faults.Add(fmt.Sprintf("request.needsPreemption[%d]", i), "%v is not requested", fr)
			continue
		}
		d.Needs[slot] = true
	}
	if isOpen(w) {
		if len(r.NeedsPreemption) > 0 {
			faults.Add("request.needsPreemption", "is given, but flavors are to be assigned first")
		}
		sc.open.enter(c, s.plans.Of(c, node), sc, config, r, &faults)
	}
	return faults.Err()
}

// find assigns flavors to requests without one, then searches victims; ok is false if some
// request found no flavor.
func (sc *scratch) find(c *cluster.Cluster, r *Request, maxBlockers int) (found decide.Result, ok bool) {
	open := isOpen(&r.Workload)
	if open && !sc.assign(c) {
		return decide.Result{Steps: sc.open.assigner.Steps}, false
	}
	if open {
		sc.searcher.Failures = &sc.open.assigner
	}
	found = sc.search(c, &r.Workload, maxBlockers)
	sc.searcher.Failures = nil
	if open {
		found.Steps += sc.open.assigner.Steps
	}
	return found, true
}

// search decides about the slots. A workload that never preempts fits or does not, and time
// changes nothing.
func (sc *scratch) search(c *cluster.Cluster, w *workload.Workload, maxBlockers int) decide.Result {
	d := &sc.request
	if !w.NeverPreempts {
		return sc.searcher.Search(c, d, sc.taker(), maxBlockers)
	}
	var found decide.Result
	for slot, column := range d.Columns {
		height, _ := c.Usage.BorrowHeight(d.Queue, column, d.Amounts[slot])
		found.BorrowHeight = max(found.BorrowHeight, height)
		if missing, bound := c.Usage.Missing(d.Queue, column, d.Amounts[slot]); missing > 0 {
			found.Shortages = append(found.Shortages, search.Shortage{Slot: slot, Missing: missing, Bound: bound})
		}
	}
	if d.Entitled != nil && len(found.Shortages) == 0 {
		found.Shortages = sc.searcher.FixedShortages(c, d)
	}
	found.NoRoom = len(found.Shortages) == 0 && d.Room != nil && !d.Room.Fits()
	found.Fits = len(found.Shortages) == 0 && !found.NoRoom
	return found
}

// slot returns the slot of a column, a new one if it has none.
func (sc *scratch) slot(c *cluster.Cluster, fr quota.FlavorResource) int {
	if slot := slices.Index(sc.names, fr); slot >= 0 {
		return slot
	}
	d := &sc.request
	d.Columns, d.Amounts, d.Needs = append(d.Columns, c.Columns.Number(fr)), append(d.Amounts, 0), append(d.Needs, false)
	sc.names = append(sc.names, fr)
	return len(sc.names) - 1
}
