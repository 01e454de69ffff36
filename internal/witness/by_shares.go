package witness

import (
	"slices"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota/fairshare"
)

// [preemption.KAI]: the queues take back what others hold over their shares. Who may, from whom, and which sets are
// acceptable, says package fairshare, whose answers are those that KAI gave of 25,665 sets.

// shares are the rules of fair shares about the request.
type shares struct {
	*fairshare.Reclaim
	in fairshare.Reclaimer
}

// sharesOf divides the shares of the state, in which what was told to leave holds nothing.
func sharesOf(w *world) *shares {
	tree := w.shares.Clone()
	for i := range tree.Queues {
		n := find(w.queues, tree.Queues[i].Name)
		if n == nil {
			continue
		}
		for _, r := range tree.Resources {
			c := claimOn(&tree.Queues[i], r.Name)
			for _, of := range n.running {
				held := amountOf(of.holds(), r.Name)
				c.Usage = plus(c.Usage, held)
				if of.NeverYields {
					c.NonPreemptible = plus(c.NonPreemptible, held)
				}
			}
		}
	}
	s := &shares{in: fairshare.Reclaimer{Queue: w.own.name, NonPreemptible: w.request.Workload.NeverYields}}
	s.Reclaim, _ = fairshare.NewReclaim(tree)
	for _, r := range tree.Resources {
		sum := int64(0)
		for fr, amount := range w.asked {
			if fr.Resource == r.Name {
				sum = plus(sum, amount)
			}
		}
		s.in.Requests = append(s.in.Requests, fairshare.Amount{Resource: r.Name, Amount: sum})
	}
	return s
}

func claimOn(q *fairshare.Queue, resource string) *fairshare.Claim {
	for i := range q.Claims {
		if q.Claims[i].Resource == resource {
			return &q.Claims[i]
		}
	}
	q.Claims = append(q.Claims, fairshare.Claim{Resource: resource})
	return &q.Claims[len(q.Claims)-1]
}

// holds lists what a workload holds for fair shares.
func (r *running) holds() (list []fairshare.Amount) {
	for i := range r.PodSets {
		if p := &r.PodSets[i]; !r.Evicted {
			for _, a := range p.Requests {
				list = append(list, fairshare.Amount{Resource: a.Resource, Amount: p.Total(a.Amount) - p.Terminating*a.Amount})
			}
		}
	}
	return list
}

func amountOf(list []fairshare.Amount, resource string) (sum int64) {
	for _, a := range list {
		if a.Resource == resource {
			sum = plus(sum, a.Amount)
		}
	}
	return sum
}

// replicasOf lists what so many replicas of a pod set hold.
func (r *running) replicasOf(podSet int, n int64) (list []fairshare.Amount) {
	for _, a := range r.PodSets[podSet].Requests {
		list = append(list, fairshare.Amount{Resource: a.Resource, Amount: n * a.Amount})
	}
	return list
}

// inUnits lists what yields at once: "the surplus pods singly, then `minimum` pods as one unit; otherwise all as one".
// Of a part n replicas of the pod set yield.
func (s *shares) inUnits(c *candidate, n int64) (list []fairshare.Unit) {
	r := c.of
	if c.podSet != whole {
		p := &r.PodSets[c.podSet]
		together := min(n, max(1, p.Count-p.Surplus()))
		for range n - together {
			list = append(list, fairshare.Unit{Queue: r.Queue, Usage: s.known(r.replicasOf(c.podSet, 1))})
		}
		return append(list, fairshare.Unit{Queue: r.Queue, Usage: s.known(r.replicasOf(c.podSet, together))})
	}
	var rest []fairshare.Amount
	for i := range r.PodSets {
		p := &r.PodSets[i]
		for range p.Surplus() {
			list = append(list, fairshare.Unit{Queue: r.Queue, Usage: s.known(r.replicasOf(i, 1))})
		}
		rest = append(rest, r.replicasOf(i, p.Count-p.Surplus())...)
	}
	return append(list, fairshare.Unit{Queue: r.Queue, Usage: s.known(rest)})
}

// replicasIn returns how many replicas of a candidate's pod set are in a set, and whether the candidate is the first of them.
func replicasIn(set []*candidate, c *candidate) (n int64, first bool) {
	for _, o := range set {
		if o.of == c.of && o.podSet == c.podSet && !o.leaving {
			if n == 0 {
				first = o == c
			}
			n += o.replicas
		}
	}
	return n, first || c.podSet == whole
}

// known leaves out what is not divided.
func (s *shares) known(list []fairshare.Amount) []fairshare.Amount {
	return slices.DeleteFunc(list, func(a fairshare.Amount) bool {
		return !slices.ContainsFunc(s.in.Requests, func(r fairshare.Amount) bool { return r.Resource == a.Resource })
	})
}

// permits reports whether the request may take from a queue at all: from its own, or from one that the shares name.
func (s *shares) permits(w *world, c *candidate) bool {
	if c.of.home == w.own {
		return c.of.EffectivePriority() < w.request.Workload.EffectivePriority()
	}
	may, err := s.May(s.in)
	if err != nil || may != (fairshare.Refusal{}) {
		return false
	}
	refused, err := s.Candidate(s.in, c.of.Queue)
	return err == nil && refused == (fairshare.Refusal{})
}

// allows reports whether there is an order in which all may yield: of the victims of each sibling one is the last, and which
// one that is of one sibling does not matter to another.
func (s *shares) allows(w *world, set []*candidate) bool {
	var order []fairshare.Unit
	bySide := map[*node][]fairshare.Unit{}
	var sides []*node
	for _, c := range set {
		if c.leaving || c.of.home == w.own {
			continue
		}
		side := childAbove(c.of.home, meet(w.own, c.of.home))
		if !slices.Contains(sides, side) {
			sides = append(sides, side)
		}
		if n, first := replicasIn(set, c); first {
			bySide[side] = append(bySide[side], s.inUnits(c, n)...)
		}
	}
	for _, side := range sides {
		units := bySide[side]
		for range units {
			units = append(units[1:], units[0])
			if refused, err := s.Allows(s.in, units); err == nil && refused.Rule != fairshare.NotOver {
				break
			}
		}
		order = append(order, units...)
	}
	if len(order) == 0 {
		return true
	}
	refused, err := s.Allows(s.in, order)
	return err == nil && refused == (fairshare.Refusal{})
}

// OverQuota reports whether the request never yields, and is over a quota within which it has to be.
func (q *Question) OverQuota() bool {
	s := sharesOf(q.world)
	refused, err := s.MayPreempt(s.in)
	return err == nil && refused != (fairshare.Refusal{})
}

// byShares lists who may yield at an instant, each by itself.
func (s *shares) byShares(w *world, at time.Time) (list []*candidate) {
	for _, n := range w.queues {
		for _, r := range n.running {
			for _, c := range r.parts() {
				c.meet, c.reason = meet(w.own, n), preemption.InCohortFairSharing
				switch {
				case n == w.own:
					c.reason = preemption.InClusterQueue
				case c.leaving:
					c.reason = preemption.InCohortReclamation
				}
				if c.leaving || !n.queue.Inactive && s.permits(w, c) && w.mayYield(c, at) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// VictimsByShares returns what is wrong with victims of fair shares.
func (q *Question) VictimsByShares(victims []preemption.Victim) preemption.Faults {
	s := sharesOf(q.world)
	j := &judge{Question: q, victims: victims, mayBorrow: true}
	from := s.byShares(q.world, q.request.Now)
	for i := range victims {
		j.victim(i, &victims[i], from)
	}
	j.limited()
	told := slices.DeleteFunc(slices.Clone(j.set), func(c *candidate) bool { return c.leaving })
	ofOwn := func(c *candidate) bool { return c.of.home == q.own }
	if n := len(slices.DeleteFunc(slices.Clone(told), ofOwn)); n > 0 && n < len(told) {
		j.Add("decision.victims", "some are of the own queue, others of others")
	}
	if !s.allows(q.world, j.set) {
		j.Add("decision.victims", "the shares do not allow that they yield together")
	}
	for _, c := range j.set {
		c.remove()
	}
	defer restore(j.set)
	if !j.fits(true) {
		j.Add("decision.victims", "without them the request does not fit")
		return j.Faults
	}
	for i, c := range j.set {
		c.putBack()
		if j.fits(true) && s.allows(q.world, without(j.set, i)) {
			j.Add(j.path(j.by[i]), "%q, or a replica of it, can stay", c.of.ID)
		}
		c.remove()
	}
	return j.Faults
}

// OneYields returns a workload that by itself, beside what leaves already, would make room at an instant; empty: none
// would. Whoever refuses a request has missed it.
func (q *Question) OneYields(at time.Time) string {
	s := sharesOf(q.world)
	var leaving, others []*candidate
	for _, c := range s.byShares(q.world, at) {
		if c.leaving {
			leaving = append(leaving, c)
			c.remove()
		} else {
			others = append(others, c)
		}
	}
	defer restore(leaving)
	for _, c := range others {
		c.remove()
		fits := q.fits(true) && s.allows(q.world, []*candidate{c})
		c.putBack()
		if fits {
			return c.of.ID
		}
	}
	return ""
}

// Ends lists the instants, by time, after which what protects a workload that the shares permit protects it no more.
func (q *Question) Ends() (list []time.Time) {
	s := sharesOf(q.world)
	for _, n := range q.queues {
		for _, r := range n.running {
			for _, c := range r.parts() {
				until, never := protectedUntil(q.world, c)
				if !c.leaving && !r.NeverYields && !never && !until.Before(q.request.Now) && s.permits(q.world, c) {
					list = append(list, until)
				}
			}
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	return slices.CompactFunc(list, time.Time.Equal)
}
