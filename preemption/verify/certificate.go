package verify

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/cedesched/cede/internal/reference"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/fault"
	"github.com/cedesched/cede/quota"
)

// A certificate is checked along its tree. Nothing is searched for: at the end of each branch
// a few rules are asked in turn, and one of them must say that no set of the branch is better.

// checker checks the part of a certificate about one attempt.
type checker struct {
	*judge
	of        *preemption.CertifiedAttempt
	borrowing bool
	bound     *big.Int              // that each set is to reach; nil: no set is allowed
	byNumber  bool                  // it is of the number of victims: of a refusal, more than may yield
	greedy    []reference.Candidate // the victims that set the caps; nil: there are none
	kinds     []*kind
	groups    map[string]*group // of workloads that may yield as a whole or in part
	numbers   []int             // by index of the attempt's candidates: the kind
	rows      []row
	taken     []reference.Candidate
	sum       *big.Int // the bound, without the rows: of what is taken, and of all that is left
	at        int      // in the tree
}

// certificate returns what is wrong with the certificate of the decision.
func (j *judge) certificate(c *preemption.Certificate) (faults fault.List) {
	if j.Queue.Queue.Inactive || j.Request.Workload.NeverPreempts {
		faults.Add("decision.proof.certificate", "is set, but nothing may ever be preempted")
		return faults
	}
	list, caps := j.Candidates(), j.caps()
	for n, borrowing := range j.Attempts(list) {
		if n > 0 && !borrowing && !slices.ContainsFunc(list, onlyWithinNominal) {
			continue // it permits no other candidate than the first, and less
		}
		if !slices.ContainsFunc(c.Attempts, func(of preemption.CertifiedAttempt) bool { return of.WithinNominal == !borrowing }) {
			faults.Add("decision.proof.certificate.attempts", "none has withinNominal: %v", !borrowing)
		}
	}
	for i := range c.Attempts {
		x := &checker{judge: j, of: &c.Attempts[i], borrowing: !c.Attempts[i].WithinNominal, greedy: caps}
		if len(j.d.Victims) > 0 {
			x.bound = big.NewInt(c.Bound)
		}
		if err := x.check(list); err != nil {
			faults.Add(fmt.Sprintf("decision.proof.certificate.attempts[%d]", i), "%v", err)
		}
	}
	return faults
}

// caps returns the victims of the documented search. They are the caps: by no right and from no
// priority on may more workloads yield. Nil: there are no caps, or the answer exceeds them, as it
// may if every allowed set does.
func (j *judge) caps() []reference.Candidate {
	d := j.d
	if j.Config.Exact.IgnoreCaps || len(d.Victims) == 0 {
		return nil
	}
	greedy := byID(j.Search())
	x := checker{judge: j, greedy: greedy}
	for i := range d.Victims {
		if r := j.running(d.Victims[i].Workload, ""); r != nil {
			x.taken = append(x.taken, reference.Candidate{Running: r, PodSet: -1, Reason: d.Victims[i].Reason})
		}
	}
	if x.overCaps() {
		return nil
	}
	return greedy
}

// check checks the certificate of the attempt.
func (x *checker) check(list []reference.Candidate) error {
	x.findKinds(list)
	if x.bound == nil && len(x.Config.Limits) > 0 {
		x.bound, x.byNumber = big.NewInt(x.ceiling()+1), true
	}
	for _, c := range x.of.Candidates {
		at := slices.IndexFunc(x.kinds, func(k *kind) bool { return k.has(c) })
		if at < 0 {
			return fmt.Errorf("%q %q may not yield", c.Workload, c.PodSet)
		}
		x.numbers = append(x.numbers, at)
	}
	if err := x.price(); err != nil {
		return err
	}
	if len(x.of.Tree) == 0 {
		if !x.shown() {
			return fmt.Errorf("the bound %v by the multipliers is not enough", x.of.Bound)
		}
		return nil
	}
	if err := x.branch(); err != nil {
		return err
	}
	if x.at < len(x.of.Tree) {
		return fmt.Errorf("tree: %d numbers are left over", len(x.of.Tree)-x.at)
	}
	return nil
}

// branch checks the branch of the tree that comes next.
func (x *checker) branch() error {
	var closed []*kind
	defer func() {
		for _, k := range closed {
			x.close(k, false)
		}
	}()
	for {
		if x.at == len(x.of.Tree) {
			return fmt.Errorf("tree: it ends in a branch")
		}
		n := x.of.Tree[x.at]
		if x.at++; n == -1 {
			if !x.shown() {
				return fmt.Errorf("tree[%d]: a better set is possible with %s, and without %d kinds", x.at-1, names(x.taken), len(closed))
			}
			return nil
		}
		if n < 0 || n >= len(x.numbers) {
			return fmt.Errorf("tree[%d]: %d is no candidate", x.at-1, n)
		}
		k := x.kinds[x.numbers[n]]
		if !k.open() {
			return fmt.Errorf("tree[%d]: no other of the kind of %q is left", x.at-1, k.list[0].ID)
		}
		x.move(k, 1)
		err := x.branch()
		x.move(k, -1)
		if err != nil {
			return err
		}
		x.close(k, true)
		closed = append(closed, k)
	}
}

// shown reports whether a rule shows that no set with what is taken, and others of what is
// left, is allowed and better.
func (x *checker) shown() bool {
	if x.bound != nil && (x.value().Cmp(x.bound) >= 0 || x.reaches(nil)) || x.forbidden() {
		return true
	}
	if !x.Fits(x.borrowing) || x.refused(x.taken, nil) { // another candidate must yield
		if next, any := x.cheapest(); !any || x.bound != nil && next.Sign() > 0 && x.reaches(next) {
			return true
		}
	}
	return x.hopeless()
}

// forbidden reports whether what is taken is part of no allowed set: less may yield, never
// more.
func (x *checker) forbidden() bool {
	for i, c := range x.taken {
		again := func(o reference.Candidate) bool { return o.ID == c.ID }
		if !c.Partial() && slices.ContainsFunc(x.taken[:i], again) || c.GoesWhole(x.taken[:i]) {
			return true // of the same workload all and a replica
		}
	}
	if x.overCaps() || x.overLimits() || len(x.inOrder(x.taken, x.borrowing)) > 0 {
		return true
	}
	if !x.fair() {
		return false
	}
	_, unstable := unstableOf(x.Question, x.taken)
	return unstable || x.refused(x.taken, x.left())
}

// overCaps reports whether more victims are taken than the documented search takes, by some
// right and from some priority on.
func (x *checker) overCaps() bool {
	if x.greedy == nil {
		return false
	}
	return slices.ContainsFunc(x.taken, func(of reference.Candidate) bool {
		counts := func(c reference.Candidate) bool {
			return c.Reason == of.Reason && c.EffectivePriority() >= of.EffectivePriority()
		}
		return workloads(x.taken, counts) > workloads(x.greedy, counts)
	})
}

// workloads counts workloads by the first of their parts in a list.
func workloads(list []reference.Candidate, counts func(reference.Candidate) bool) (n int64) {
	for i, c := range list {
		again := slices.ContainsFunc(list[:i], func(o reference.Candidate) bool { return o.ID == c.ID })
		if !again && counts(c) {
			n++
		}
	}
	return n
}

// refused reports whether on some side the strategies of fair sharing refuse the taken victims in every order, even
// if other candidates yield, too.
func (x *checker) refused(victims, besides []reference.Candidate) bool {
	return len(x.Unjustified(victims, besides...)) > 0
}

// left lists the candidates that may yield besides what is taken, and are not decided against.
func (x *checker) left() (list []reference.Candidate) {
	for _, k := range x.kinds {
		if k.open() && !k.excluded() {
			list = append(list, k.list[k.taken:]...)
		}
	}
	return list
}

// hopeless reports whether the request does not fit without all candidates that are left.
func (x *checker) hopeless() bool {
	left := x.left()
	x.Take(left...)
	defer x.Return(left...)
	return !x.Fits(x.borrowing)
}

// kind is a list of candidates that nothing tells apart. Any of them are as good as the first ones
// of the same number.
type kind struct {
	list    []reference.Candidate
	taken   int
	closed  bool
	part    int64 // of how many replicas one of them is one
	cost    int64
	price   *big.Int // see checker.price
	reduced *big.Int
	group   *group
}

// group is the kinds of one workload: it yields as a whole, or replicas of it do. All others are alone in theirs.
type group struct{ whole, parts []*kind }

// open reports whether another candidate of the kind is left.
func (k *kind) open() bool { return !k.closed && k.taken < len(k.list) }

// excluded reports whether what is taken excludes the kind.
func (k *kind) excluded() bool {
	other := k.group.whole
	if slices.Contains(other, k) {
		other = k.group.parts
	}
	return slices.ContainsFunc(other, func(o *kind) bool { return o.taken > 0 })
}

func (k *kind) has(c preemption.CertifiedCandidate) bool {
	return slices.ContainsFunc(k.list, func(o reference.Candidate) bool {
		return o.ID == c.Workload && o.PodSetName() == c.PodSet && (o.Leaving != "") == c.Leaving
	})
}

// findKinds lists the candidates that the attempt and the caps permit, by kind.
func (x *checker) findKinds(list []reference.Candidate) {
	byKey := map[string]*kind{}
	x.groups = map[string]*group{}
	replicas := map[string]int64{}
	var kept []reference.Candidate
	entitled := !x.fair() || x.Entitled()
	for _, c := range list {
		if c.Class != reference.OwnQueue && !entitled {
			c.Reason = preemption.InCohortFairSharing
		}
		if x.borrowing && onlyWithinNominal(c) {
			continue
		}
		if c.Partial() {
			replicas[c.ID]++
		}
		kept = append(kept, c)
	}
	stays := slices.DeleteFunc(slices.Clone(kept), func(c reference.Candidate) bool { return x.LeavesAnyway(c.Running) })
	kept = slices.DeleteFunc(kept, func(c reference.Candidate) bool { return !x.LeavesAnyway(c.Running) })
	for _, c := range append(kept, stays...) {
		x.taken = []reference.Candidate{c}
		over := x.overCaps() || x.overLimits()
		x.taken = nil
		if over {
			continue
		}
		k := &kind{part: 1, cost: x.costOf(c)}
		if c.Partial() {
			k.part = replicas[c.ID]
		}
		key := fmt.Sprintf("%s %d %d %d %v %q", c.Queue, c.Reason, c.EffectivePriority(), k.cost, usageOf(c), x.Counting(c))
		if x.Request.Room != nil || replicas[c.ID] > 0 {
			key = fmt.Sprintf("%s %d %q", c.ID, c.PodSet, c.Leaving)
		}
		if byKey[key] == nil {
			byKey[key] = k
			x.kinds = append(x.kinds, k)
			x.enter(k, c, replicas[c.ID] > 0)
		}
		byKey[key].list = append(byKey[key].list, c)
	}
}

// enter puts a kind into its group.
func (x *checker) enter(k *kind, c reference.Candidate, divides bool) {
	k.group = &group{}
	if divides {
		if x.groups[c.ID] == nil {
			x.groups[c.ID] = k.group
		}
		k.group = x.groups[c.ID]
	}
	if c.Partial() {
		k.group.parts = append(k.group.parts, k)
	} else {
		k.group.whole = append(k.group.whole, k)
	}
}

// onlyWithinNominal: only an attempt that keeps the queue within its nominal quota permits it.
func onlyWithinNominal(c reference.Candidate) bool {
	return c.Class == reference.ByPriority && c.Reason != preemption.InCohortReclaimWhileBorrowing
}

// usageOf returns what a whole candidate takes, without zeros.
func usageOf(c reference.Candidate) []quota.Amount {
	return slices.DeleteFunc(c.Usage(), func(a quota.Amount) bool { return a.Amount == 0 })
}

// costOf returns what a candidate counts.
func (x *checker) costOf(c reference.Candidate) int64 {
	if x.Config.Cost == nil {
		return 1
	}
	return x.Lost(c)
}
