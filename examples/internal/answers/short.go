package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
)

// Short is an answer in a few words.
type Short struct {
	Outcome string    `json:"outcome"`           // of the decision; Held or Unknown without one
	Words   string    `json:"words"`             // the same as a person reads it
	Victims []string  `json:"victims,omitempty"` // what yields: now for Preempt, once the gates are open for Gated, at that time for Wait
	Leaving []string  `json:"leaving,omitempty"` // the victims that were told to leave before
	At      time.Time `json:"at,omitzero"`       // for Wait: when time alone helps
	Missing int64     `json:"missing,omitempty"` // for Impossible: the amount that Words names, in the unit of the resource
}

// undecided is a verdict without decision.
func undecided(id string, v Verdict) Short {
	v.Why = strings.TrimPrefix(v.Why, "Workload "+id+": ")
	if v.Outcome == preemption.Impossible.String() {
		return Short{Outcome: v.Outcome, Words: "no: " + v.Why}
	}
	return Short{Outcome: v.Outcome, Words: strings.ToLower(v.Outcome) + ": " + v.Why}
}

// Shorten decides about a workload and says it in a few words.
func (c *Cluster) Shorten(w *Waiting) (Short, error) {
	s, _, err := c.shorten(w)
	return s, err
}

// shorten is [Cluster.Shorten], and counts what the decisions look at.
func (c *Cluster) shorten(w *Waiting) (s Short, steps int, err error) {
	if !w.decided() {
		return undecided(w.Workload.ID, w.Verdict(nil)), 0, nil
	}
	decide := func(r preemption.Request) (preemption.Decision, error) {
		d, looked, err := c.Preemptor.DecideCounting(c.Snapshot, r)
		steps += looked + 1
		return d, err
	}
	var d preemption.Decision
	if w.head != nil {
		d, steps = w.head.Decision, w.head.looked+1
	} else if d, err = decide(w.Request); err != nil {
		return Short{}, steps, Faults(err)
	}
	if v := w.Verdict(&d); v.Why != "" {
		return undecided(w.Workload.ID, v), steps, nil
	}
	s = Short{Outcome: d.Outcome.String(), Victims: VictimNames(d.Victims), Leaving: LeavingNames(d.Victims), At: d.RetryAt}
	if Awaits(&d) {
		s.Words = "waits for " + c.awaited(&d) + explain.Partial(&d, &w.Request.Workload)
		return s, steps, nil
	}
	switch d.Outcome {
	case preemption.Fits:
		s.Words = "fits now" + explain.Partial(&d, &w.Request.Workload)
	case preemption.Preempt:
		s.Words = "preempts " + Who(d.Victims) + explain.Partial(&d, &w.Request.Workload)
	case preemption.Gated:
		s.Words = "gated: would preempt " + Who(d.Victims) + explain.Partial(&d, &w.Request.Workload)
	case preemption.Wait:
		later := w.Request
		later.Now = d.RetryAt
		then, err := decide(later)
		if err != nil {
			return Short{}, steps, err
		}
		s.Victims, s.Leaving = VictimNames(then.Victims), LeavingNames(then.Victims)
		s.Words = "in " + duration.HumanDuration(d.RetryAt.Sub(w.Request.Now)) + ": "
		switch then.Outcome {
		case preemption.Fits:
			s.Words += "fits"
		case preemption.Preempt:
			s.Words += "preempts " + Who(then.Victims)
		default:
			s.Words += "ask again"
		}
	default:
		var why string
		why, s.Missing = WhyNot(&d, &w.Request)
		s.Words = "no: " + c.Words(cmp.Or(c.OverShare(&d, &w.Request), why))
	}
	return s, steps, nil
}

// WhyNot says in a few words why a request is impossible, and how much is missing.
func WhyNot(d *preemption.Decision, r *preemption.Request) (words string, missing int64) {
	if last := len(d.Assignment) - 1; last >= 0 && d.Assignment[last].Flavor == "" {
		choice := d.Assignment[last]
		if len(choice.Tried) == 0 {
			var names []string
			for _, resource := range choice.Resources {
				names = append(names, resource.Resource)
			}
			return "the queue has no quota for " + strings.Join(names, ", "), 0
		}
		if why, same := skippedAlike(choice.Tried); same {
			return why, 0
		}
		least := leastShort(d.Shortage, r)
		return fmt.Sprintf("%s %s missing even in %s", units.Amount(least.Resource, least.Missing), base(least.Resource), least.Flavor), least.Missing
	}
	if d.NoRoom {
		return "no room on nodes", 0
	}
	bound := func(s *preemption.Shortage) string {
		if s.Cohort != "" {
			return "cohort " + s.Cohort
		}
		return "queue " + r.Workload.Queue
	}
	pinned := d.Assignment.Pin(r.Workload)
	for _, s := range d.Shortage {
		if s.NeverYields {
			return fmt.Sprintf("not preemptible, and with it %s %s more than the quota of %s", units.Amount(s.Resource, s.Missing), base(s.Resource), bound(&s)), s.Missing
		}
		for _, u := range pinned.Usage() {
			if u.FlavorResource() == s.FlavorResource && u.Amount > s.PotentialAvailable {
				return fmt.Sprintf("asks for %s %s, the queue can have %s", units.Amount(s.Resource, u.Amount), base(s.Resource), units.Amount(s.Resource, s.PotentialAvailable)), s.Missing
			}
		}
	}
	if len(d.Shortage) == 0 {
		return "no workload may yield", 0
	}
	s := Scarcest(d.Shortage, r)
	return fmt.Sprintf("%s %s missing in %s", units.Amount(s.Resource, s.Missing), base(s.Resource), bound(&s)), s.Missing
}

// Scarcest is the shortage of which most is missing of what is asked for; of equals the one with the fewest units, which are devices rather
// than bytes; then the first. There is one.
func Scarcest(list []preemption.Shortage, r *preemption.Request) preemption.Shortage {
	return slices.MaxFunc(list, func(a, b preemption.Shortage) int {
		return cmp.Or(cmp.Compare(lacking(&a, r), lacking(&b, r)), cmp.Compare(b.Missing, a.Missing))
	})
}

// leastShort is the scarcest resource of the flavor in which least is missing of its scarcest; of equals the first.
func leastShort(list []preemption.Shortage, r *preemption.Request) preemption.Shortage {
	var flavors []preemption.Shortage
	for i := range list {
		if slices.ContainsFunc(flavors, func(s preemption.Shortage) bool { return s.Flavor == list[i].Flavor }) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(list), func(s preemption.Shortage) bool { return s.Flavor != list[i].Flavor })
		flavors = append(flavors, Scarcest(of, r))
	}
	return slices.MinFunc(flavors, func(a, b preemption.Shortage) int { return cmp.Compare(lacking(&a, r), lacking(&b, r)) })
}

// lacking is the part of what is asked for of a resource that is missing: 1 is all of it.
func lacking(s *preemption.Shortage, r *preemption.Request) float64 {
	asked := int64(0)
	for _, u := range r.Workload.Usage() {
		if u.Resource == s.Resource {
			asked = quota.Add(asked, u.Amount)
		}
	}
	return float64(s.Missing) / float64(max(1, asked))
}

// base is a resource without its vendor: nvidia.com/gpu is gpu.
func base(resource string) string { return resource[strings.LastIndex(resource, "/")+1:] }

// skippedAlike returns why all flavors were skipped, if it is the same for all.
func skippedAlike(tried []preemption.TriedFlavor) (why string, same bool) {
	for i, f := range tried {
		if i > 0 && f.Skipped != tried[0].Skipped {
			return "", false
		}
	}
	switch tried[0].Skipped {
	case preemption.NotEligible:
		return "its pods may run on no flavor of the queue", true
	case preemption.ExceedsMaxQuota:
		return "more than the queue can ever have", true
	case preemption.NotReclaimable:
		return "borrows, and borrowWithinCohort is Never", true
	case preemption.NeverPreempts:
		return "others would have to yield, and it never preempts", true
	}
	return "", false
}

// Colour is the colour of an answer in words.
func Colour(words string) printable.Colour {
	first, _, _ := strings.Cut(strings.TrimLeft(words, " "), " ")
	switch first {
	case "fits", "admitted", "runs":
		return printable.Green
	case "preempts", "in", "gated:", "waits", "waits:":
		return printable.Yellow
	case "held:":
		return printable.Blue
	case "unknown:":
		return printable.Magenta
	case "no:", "stays:":
		return printable.Red
	}
	return printable.Plain
}

// ColourOf is the colour of an outcome.
func ColourOf(outcome string) printable.Colour {
	switch outcome {
	case Runs, preemption.Fits.String(), preemption.Preempt.String():
		return printable.Green
	case preemption.Gated.String(), preemption.Wait.String():
		return printable.Yellow
	case Held:
		return printable.Blue
	case Unknown:
		return printable.Magenta
	}
	return printable.Red
}

// Rank orders outcomes from the best to the worst.
func (s *Short) Rank() int {
	for i, name := range []string{Runs, "Fits", "Preempt", "Gated", "Wait", "Impossible", Held, Unknown} {
		if s.Outcome == name {
			return i
		}
	}
	return -1
}

// isNo reports whether the answer is a no: what is unknown is neither better nor worse.
func (s *Short) isNo() bool { return s.Outcome == preemption.Impossible.String() || s.Outcome == Held }

// ChangeInTime is [ChangeOf] of answers at two instants: how long it is until an instant, or since one, does not count.
func ChangeInTime(before, after *Short) string {
	change := ChangeOf(before, after)
	if change == "other" && before != nil && after != nil && slices.Equal(before.Victims, after.Victims) && before.timeless() == after.timeless() {
		return ""
	}
	return change
}

// timeless is the words without the length of time that they have.
func (s *Short) timeless() string {
	if s.Outcome == preemption.Wait.String() {
		_, what, _ := strings.Cut(s.Words, ": ")
		return what
	}
	who, _, _ := strings.Cut(s.Words, told)
	who, _, _ = strings.Cut(who, firstTold)
	return who
}

// ChangeOf compares two answers: a better outcome, then fewer victims, an earlier time, less
// that is missing, if both miss something. Empty: they are the same.
func ChangeOf(before, after *Short) string {
	if before == nil || after == nil || before.isNo() && after.Outcome == Unknown || before.Outcome == Unknown && after.isNo() {
		return "other"
	}
	worse := cmp.Or(
		cmp.Compare(after.Rank(), before.Rank()),
		cmp.Compare(len(after.Victims), len(before.Victims)),
		after.At.Compare(before.At))
	if worse == 0 && before.Missing > 0 && after.Missing > 0 {
		worse = cmp.Compare(after.Missing, before.Missing)
	}
	switch {
	case worse < 0:
		return "better"
	case worse > 0:
		return "worse"
	case after.Words != before.Words || !slices.Equal(after.Victims, before.Victims):
		return "other"
	}
	return ""
}
