package derive

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// decision prints a decision.
func decision(d preemption.Decision) string {
	var b strings.Builder
	b.WriteString(d.Outcome.String())
	if !d.RetryAt.IsZero() {
		b.WriteString(", retry at " + clock(d.RetryAt))
	}
	b.WriteString("\n")
	for _, c := range d.Assignment {
		for _, r := range c.Resources {
			fmt.Fprintf(&b, "  flavor %q for %s of %s: %v\n", c.Flavor, r.Resource, c.PodSet, r.Mode)
		}
	}
	for _, v := range d.Victims {
		fmt.Fprintf(&b, "  victim %s", v.Workload)
		for i, r := range v.Replicas {
			fmt.Fprintf(&b, "%s %d of %s", []string{":", " and"}[min(i, 1)], r.Count, r.PodSet)
		}
		fmt.Fprintf(&b, " (%v", v.Reason)
		for i, r := range v.Rules {
			fmt.Fprintf(&b, "%s %s", []string{" by", ","}[min(i, 1)], r.Rule)
		}
		b.WriteString(")")
		if v.Leaving {
			b.WriteString(", leaving already")
		}
		b.WriteString("\n")
	}
	if len(d.Triggers) > 0 {
		fmt.Fprintf(&b, "  triggers that hold: %s\n", strings.ReplaceAll(strings.Trim(fmt.Sprint(d.Triggers), "[]"), " ", ", "))
	}
	for _, s := range d.Shortage {
		node := s.Cohort
		if node != "" {
			node = ", in cohort " + node
		}
		fmt.Fprintf(&b, "  short of %d %s%s; could ever have %d\n", s.Missing, resourceName(s.FlavorResource), node, s.PotentialAvailable)
	}
	for _, k := range d.Blockers {
		fmt.Fprintf(&b, "  blocked by %v:", k.Rule)
		for _, word := range [...][2]string{{"cohort", k.Cohort}, {"queue", k.Queue}, {"workload", k.Workload}} {
			if word[1] != "" {
				fmt.Fprintf(&b, " %s %s", word[0], word[1])
			}
		}
		if !k.Until.IsZero() {
			b.WriteString(", until " + clock(k.Until))
		}
		if k.SetBy != "" {
			b.WriteString(", set by " + k.SetBy)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// resourceName returns the resource as files write it.
func resourceName(fr quota.FlavorResource) string {
	if fr.Flavor == "default" {
		return fr.Resource
	}
	return fr.Flavor + "/" + fr.Resource
}

// clock returns the time of day, with the date if it is another day.
func clock(t time.Time) string {
	layout := "15:04"
	switch {
	case t.Nanosecond() != 0:
		layout = "15:04:05.999999999"
	case t.Second() != 0:
		layout = "15:04:05"
	}
	if t.YearDay() != noon.YearDay() || t.Year() != noon.Year() {
		layout = "2006-01-02 " + layout
	}
	return t.Format(layout)
}
