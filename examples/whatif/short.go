package main

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption"
)

// short is an answer in a few words.
type short struct {
	Outcome string    `json:"outcome"`           // of the decision; Held or Unknown without one
	Words   string    `json:"words"`             // the same as a person reads it
	Victims []string  `json:"victims,omitempty"` // who yields: now for Preempt, once the gates are open for Gated, at that time for Wait
	At      time.Time `json:"at,omitzero"`       // for Wait: when time alone helps
	Missing int64     `json:"missing,omitempty"` // what is missing most, for Impossible and Wait
}

// shorten decides about a workload and says it in a few words.
func (c *cluster) shorten(w *waiting) (short, error) {
	switch {
	case w.unasked != "":
		return short{Outcome: "Unknown", Words: "unknown: " + w.unasked}, nil
	case w.held != "":
		return short{Outcome: "Held", Words: "held: " + w.held}, nil
	}
	d, err := c.preemptor.Decide(c.snapshot, w.request)
	if err != nil {
		return short{}, describeFaults(err)
	}
	s := short{Outcome: d.Outcome.String(), Victims: victimNames(d.Victims), At: d.RetryAt}
	for _, lack := range d.Shortage {
		s.Missing = max(s.Missing, lack.Missing)
	}
	switch d.Outcome {
	case preemption.Fits:
		s.Words = "fits now"
	case preemption.Preempt:
		s.Words = "preempts " + who(s.Victims)
	case preemption.Gated:
		s.Words = "gated: would preempt " + who(s.Victims)
	case preemption.Wait:
		later := w.request
		later.Now = d.RetryAt
		then, err := c.preemptor.Decide(c.snapshot, later)
		if err != nil {
			return short{}, err
		}
		s.Victims = victimNames(then.Victims)
		s.Words = "in " + duration.HumanDuration(d.RetryAt.Sub(w.request.Now)) + ": "
		switch then.Outcome {
		case preemption.Fits:
			s.Words += "fits"
		case preemption.Preempt:
			s.Words += "preempts " + who(s.Victims)
		default:
			s.Words += "ask again"
		}
	default:
		s.Words = "no: " + whyNot(&d, &w.request)
	}
	return s, nil
}

func victimNames(victims []preemption.Victim) []string {
	var names []string
	for _, v := range victims {
		names = append(names, v.Workload)
	}
	return names
}

// who names victims; a table cuts off those that have no place.
func who(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%d: %s", len(names), strings.Join(names, ", "))
}

// whyNot says in a few words why a request is impossible.
func whyNot(d *preemption.Decision, r *preemption.Request) string {
	if last := len(d.Assignment) - 1; last >= 0 && d.Assignment[last].Flavor == "" {
		choice := d.Assignment[last]
		if len(choice.Tried) == 0 {
			var names []string
			for _, resource := range choice.Resources {
				names = append(names, resource.Resource)
			}
			return "the queue has no quota for " + strings.Join(names, ", ")
		}
		if why, same := skippedAlike(choice.Tried); same {
			return why
		}
		return fmt.Sprintf("fits none of %d flavors", len(choice.Tried))
	}
	if d.NoRoom {
		return "no room"
	}
	pinned := d.Assignment.Pin(r.Workload)
	for _, s := range d.Shortage {
		for _, u := range pinned.Usage() {
			if u.FlavorResource() == s.FlavorResource && u.Amount > s.PotentialAvailable {
				return fmt.Sprintf("asks for %s %s, the queue can have %s", humanAmount(s.Resource, u.Amount), base(s.Resource), humanAmount(s.Resource, s.PotentialAvailable))
			}
		}
	}
	for _, s := range d.Shortage {
		bound := "queue " + r.Workload.Queue
		if s.Cohort != "" {
			bound = "cohort " + s.Cohort
		}
		return fmt.Sprintf("%s %s missing in %s", humanAmount(s.Resource, s.Missing), base(s.Resource), bound)
	}
	return "nobody may yield"
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

// shortColour is the colour of an answer in words.
func shortColour(words string) printable.Colour {
	first, _, _ := strings.Cut(strings.TrimLeft(words, " "), " ")
	switch first {
	case "fits", "admitted", "runs":
		return printable.Green
	case "preempts", "in", "gated:", "waits":
		return printable.Yellow
	case "no:", "held:", "unknown:", "stays":
		return printable.Red
	}
	return printable.Plain
}

// rank orders outcomes from the best to the worst.
func (s *short) rank() int {
	for i, name := range []string{"Runs", "Fits", "Preempt", "Gated", "Wait", "Impossible", "Held", "Unknown"} {
		if s.Outcome == name {
			return i
		}
	}
	return -1
}
