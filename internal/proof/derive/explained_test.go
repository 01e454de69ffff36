package derive

import (
	"fmt"
	"math"
	"strings"

	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
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
