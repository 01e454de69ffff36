package audit

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// JudgePods says whether an eviction on nodes was right. Config is that of the scheduler: its MaxBlockers and MaxRetrySteps are
// not read. Any victims are right that the rules permit and of which none could stay, on any node: they need not be those that
// Decide chooses.
//
// In [placement.ModeInPlace], where pods that terminate count as running and may be chosen once more, a victim could stay only if it
// could whichever of them are gone. With set filters, which need not be monotone, a victim may have been needed on the way to the
// others, and still CouldStay. A claim that the preemptor shares with victims binds it to no node once they are gone.
//
// It costs as much as two decisions, and for each victim one about the nodes of Placed. The only error is [preemption.Faults]: a
// request or configuration that is not valid; several pods of a Basic group, of which each is decided about alone, except in
// ModeInPlace; no victim, one that does not run or was told before; a pod of Placed that is not in the request or there twice.
func JudgePods(s *placement.Snapshot, c placement.Config, e PodEviction) (PodFinding, error) {
	c.MaxRetrySteps, c.MaxBlockers = -1, -1
	p, err := placement.New(c)
	if err != nil {
		return PodFinding{}, err
	}
	j := podJudge{snapshot: s, by: p, config: c, request: e.Request, cost: e.Cost}
	var f PodFinding
	if f.Instead, err = p.Decide(s, e.Request); err != nil {
		return PodFinding{}, err
	}
	if err := j.enter(&e); err != nil {
		return PodFinding{}, err
	}
	if err := j.verdict(&f); err != nil {
		return PodFinding{}, err
	}
	for i, u := range j.units {
		v := &j.victims[i]
		v.Lost = j.lost([]placement.Unit{u})
		f.Lost = quota.Add(f.Lost, v.Lost)
	}
	f.Victims = j.victims
	return f, j.compare(&f)
}

// podJudge is a judgement on its way.
type podJudge struct {
	snapshot *placement.Snapshot
	by       *placement.Preemptor
	config   placement.Config
	request  placement.Request
	placed   placement.Request // that of the pods of Placed, on their nodes; it preempts nobody
	wanted   int               // how many of them must have room; zero: as many as the request says
	cost     func(placement.Unit) int64
	units    []placement.Unit // those of the victims
	victims  []PodVictim      // likewise
}

// enter takes the eviction in.
func (j *podJudge) enter(e *PodEviction) error {
	var faults fault.List
	if g, known := j.snapshot.Group(j.request.Group); known && g.Basic && j.config.Mode == placement.ModeDesign && len(j.request.Pods) > 1 {
		faults.Add("request.pods", "%d of the basic group %q: each is decided about alone", len(j.request.Pods), g.ID)
	}
	if len(e.Victims) == 0 {
		faults.Add("victims", "there is none")
	}
	grouped := false
	for i, id := range e.Victims {
		at := fmt.Sprintf("victims[%d]", i)
		switch p, runs := j.snapshot.Find(id); {
		case !runs:
			faults.Add(at, "%q does not run", id)
		case p.Terminating:
			faults.Add(at, "%q was told to stop before", id)
		default:
			grouped = grouped || p.Group != ""
		}
		if slices.Contains(e.Victims[:i], id) {
			faults.Add(at, "%q is there twice", id)
		}
	}
	j.pin(e.Placed, &faults)
	if err := faults.Err(); err != nil {
		return err
	}
	world := j.rules(e.Victims, grouped)
	for _, u := range world.Units() {
		if slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return slices.Contains(e.Victims, p.ID) }) {
			j.units = append(j.units, u)
		}
	}
	for i, charged := range world.Charge(j.units) {
		v := PodVictim{Victim: placement.Victim{Group: j.units[i].Group, Pods: idsOf(j.units[i]), Priority: charged.Priority, Violations: charged.Violations}}
		if kept := world.KeptBy(j.units[i]); kept.Rule != 0 {
			v.Kept = &kept
		}
		j.victims = append(j.victims, v)
	}
	return nil
}

// rules is the world of the victims alone, for the rules that keep them: these look at no other pods than those of their groups.
func (j *podJudge) rules(victims []string, grouped bool) *nodes.World {
	var st placement.State
	if !grouped {
		for _, id := range victims {
			p, _ := j.snapshot.Find(id)
			st.Pods = append(st.Pods, p)
		}
		st.Budgets = slices.Collect(j.snapshot.Budgets())
		return nodes.New(j.config, st, j.request)
	}
	st = j.snapshot.State()
	st.Nodes, st.Nominated = nil, nil
	st.Pods = slices.DeleteFunc(st.Pods, func(p workload.Pod) bool { return p.Group == "" && !slices.Contains(victims, p.ID) })
	return nodes.New(j.config, st, j.request)
}

// pin makes the request of the pods that were placed.
func (j *podJudge) pin(placed []placement.Nomination, faults *fault.List) {
	j.placed = j.request
	j.placed.Policy, j.placed.SkipFit = placement.PreemptNever, false
	if len(placed) == 0 {
		return
	}
	r := &j.placed
	r.Pods, r.Domains, r.Nested, r.MinGroups = nil, nil, nil, 0
	j.wanted = len(placed)
	if g, known := j.snapshot.Group(r.Group); r.Group != "" && !(known && g.Basic) {
		r.MinCount = j.wanted
	}
	for i, n := range placed {
		at := slices.IndexFunc(j.request.Pods, func(p workload.Pod) bool { return p.ID == n.Pod })
		switch {
		case at < 0:
			faults.Add(fmt.Sprintf("placed[%d].pod", i), "%q is not in the request", n.Pod)
			continue
		case slices.ContainsFunc(placed[:i], func(o placement.Nomination) bool { return o.Pod == n.Pod }):
			faults.Add(fmt.Sprintf("placed[%d].pod", i), "%q is there twice", n.Pod)
		}
		p := j.request.Pods[at]
		p.Nowhere = p.Nowhere || len(p.Nodes) > 0 && !slices.Contains(p.Nodes, n.Node)
		p.Nodes = []string{n.Node}
		r.Pods = append(r.Pods, p)
	}
}

// verdict judges the victims.
func (j *podJudge) verdict(f *PodFinding) error {
	if f.Instead.Outcome == preemption.Fits || f.Instead.Outcome == preemption.Wait && f.Instead.Reason == 0 {
		f.Verdict = Fitted
		for i := range j.victims {
			j.victims[i].CouldStay = true
		}
		return nil
	}
	var all, permitted []int
	for i := range j.victims {
		if all = append(all, i); j.victims[i].Kept == nil {
			permitted = append(permitted, i)
		}
	}
	terminating := j.terminating()
	enough, err := j.fits(terminating, all)
	if err != nil || !enough {
		f.Verdict = NotEnough
		return err
	}
	if enough, err = j.fits(terminating, permitted); err != nil {
		return err
	}
	tooMany := false
	if j.config.Budgets == placement.Hard {
		tooMany = slices.ContainsFunc(j.victims, func(v PodVictim) bool { return v.Violations > 0 })
	}
	if !enough || tooMany || j.request.Policy == placement.PreemptNever {
		f.Verdict = NotPermitted
		return nil
	}
	if j.same(&f.Instead) {
		f.Verdict = Right
		return nil
	}
	stay, err := j.couldStay(terminating, permitted)
	if err != nil {
		return err
	}
	f.Verdict = Right
	for i := range j.victims {
		v := &j.victims[i]
		if v.CouldStay = v.Kept != nil || slices.Contains(stay, i); v.CouldStay {
			f.Verdict = TooMany
		}
	}
	return nil
}

// maxTerminating is of how many units that terminate each set is tried.
const maxTerminating = 6

// terminating lists the units of lower priority that were told to stop and may be chosen once more, where they may be in the way:
// as built they count as running. In the design there are none: they count as gone.
func (j *podJudge) terminating() (list []placement.Unit) {
	if j.config.Mode != placement.ModeInPlace || len(j.snapshot.Terminating()) == 0 {
		return nil
	}
	far := func(f placement.Filter) bool { return f.Reach() == placement.ReachCluster }
	farSet := func(f placement.SetFilter) bool { return f.Reach() == placement.ReachCluster }
	anywhere := j.wanted == 0 || slices.ContainsFunc(slices.Concat(j.config.Filters, j.request.Filters), far) ||
		slices.ContainsFunc(slices.Concat(j.config.SetFilters, j.request.SetFilters), farSet)
	for _, u := range j.snapshot.Units() {
		there := anywhere || slices.ContainsFunc(u.Pods, func(p workload.Pod) bool {
			return slices.ContainsFunc(j.placed.Pods, func(o workload.Pod) bool { return o.Nodes[0] == p.Node })
		})
		if there && j.leaves(u) && j.rules(idsOf(u), u.Pods[0].Group != "").KeptBy(u).Rule == 0 {
			list = append(list, u)
		}
	}
	return list
}

// leaves reports whether all pods of a unit were told to stop.
func (j *podJudge) leaves(u placement.Unit) bool {
	return !slices.ContainsFunc(u.Pods, func(p workload.Pod) bool { return !p.Terminating })
}

// couldStay lists the victims each of which could stay while the others leave: the fewest, of all ways in which those that
// terminate are gone or stay and the victims are enough. Of many that terminate all stay.
func (j *podJudge) couldStay(terminating []placement.Unit, permitted []int) (fewest []int, err error) {
	if len(terminating) > maxTerminating {
		terminating = nil
	}
	ways := [][]placement.Unit{nil}
	for _, u := range terminating {
		for _, gone := range ways {
			ways = append(ways, append(slices.Clip(gone), u))
		}
	}
	for _, gone := range ways {
		switch enough, err := j.fits(gone, permitted); {
		case err != nil:
			return nil, err
		case !enough:
			continue
		}
		stay := []int{}
		for _, i := range permitted {
			without := slices.DeleteFunc(slices.Clone(permitted), func(k int) bool { return k == i })
			fits, err := j.fits(gone, without)
			if err != nil {
				return nil, err
			}
			if fits {
				stay = append(stay, i)
			}
		}
		if fewest == nil || len(stay) < len(fewest) {
			fewest = stay
		}
	}
	return fewest, nil
}

// fits reports whether the request has room where it was placed once some units, and some of the victims, are gone.
func (j *podJudge) fits(gone []placement.Unit, victims []int) (bool, error) {
	var edits []placement.Edit
	for _, p := range j.request.Pods { // those that were not placed have no promise
		if j.wanted > 0 && !slices.ContainsFunc(j.placed.Pods, func(o workload.Pod) bool { return o.ID == p.ID }) {
			edits = append(edits, placement.Withdraw(p.ID))
		}
	}
	for _, i := range victims {
		gone = append(slices.Clip(gone), j.units[i])
	}
	for _, u := range gone {
		for _, p := range u.Pods {
			edits = append(edits, placement.Remove(p.ID))
		}
	}
	s, err := j.snapshot.With(edits...)
	if err != nil {
		return false, err
	}
	d, err := j.by.Decide(s, j.placed)
	has := d.Outcome == preemption.Fits || d.Outcome == preemption.Wait && d.Reason == 0
	return has && (j.wanted == 0 || len(d.Nominations) == j.wanted), err
}
