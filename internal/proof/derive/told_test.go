package derive

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/quota"
)

// lines returns an explanation as the lines of an answer: without the request, which stands above, without what would change
// the answer, and without empty lines.
func lines(text string) string {
	_, text, _ = strings.Cut(text, "\n")
	if asks := "  asks for "; strings.HasPrefix(text, asks) {
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\nWhat would change the answer\n")
	return strings.ReplaceAll(text, "\n\n", "\n")
}

// explained returns a decision, and how it came about.
func explained(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request, fair bool) (d preemption.Decision, text string, err error) {
	e, err := explain.Explain(p, s, r)
	if err != nil {
		return d, "", err
	}
	if text = lines(explain.Text(e.Steps)); fair {
		var shares string
		if shares, err = compared(p, s, r); err == nil {
			text += shares
		}
	}
	return e.Decision, text, err
}

// notebook makes a preemptor record its steps.
type notebook struct {
	preemption.Guard
	*trace.Recorder
}

// compared returns what an explanation does not say of fair sharing: which queue has its turn, and each comparison of shares.
func compared(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) (string, error) {
	recorder := trace.Recorder{MaxSamples: math.MaxInt, MaxSteps: math.MaxInt}
	config := p.Config()
	config.Guards = append(config.Guards, notebook{Recorder: &recorder})
	p, err := preemption.New(config)
	if err != nil {
		return "", err
	}
	if _, err := p.Decide(s, r); err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range recorder.Steps {
		switch step := &recorder.Steps[i]; step.Kind {
		case trace.RoundBegins:
			fmt.Fprintf(&b, "  %s round\n", [2]string{"first", "second"}[toInt(step.Second)])
		case trace.Turn:
			fmt.Fprintf(&b, "    turn of %s, share %s\n", recorder.Names.Node(step.Node), share(step.Ours))
		case trace.Compared:
			fmt.Fprintf(&b, "      %s: %s\n", step.Workload, verdict(step))
		}
	}
	if b.Len() == 0 {
		return "", nil
	}
	return "How shares were compared\n" + b.String(), nil
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func share(f float64) string {
	if math.IsInf(f, 1) {
		return "without bound"
	}
	return fmt.Sprintf("%.4g", f)
}

func verdict(s *trace.Step) string {
	verdict := [2]string{"no", "yes"}[toInt(s.Fits)]
	switch {
	case s.After < 0:
		return fmt.Sprintf("ours %s is over theirs %s: no strategy permits it", share(s.Ours), share(s.Before))
	case s.Strategy == trace.FinalShare:
		return fmt.Sprintf("ours %s at most theirs without it %s? %s", share(s.Ours), share(s.After), verdict)
	}
	return fmt.Sprintf("ours %s less than theirs with it %s? %s", share(s.Ours), share(s.Before), verdict)
}

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
