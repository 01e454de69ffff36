package derive

import (
	"fmt"
	"math"
	"strings"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/trace"
)

// nodeStep prints one step of a decision about nodes.
func nodeStep(out *strings.Builder, s *trace.Step) {
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(out, "%s%s\n", strings.Repeat("  ", indent), fmt.Sprintf(format, args...))
	}
	switch s.Kind {
	case trace.PodBegins:
		line(0, "pod %s", s.Workload)
	case trace.Asked:
		line(0, "beside all that runs: %s", place(s.Fits))
	case trace.Awaited:
		line(0, "once terminating pods are gone: %s", place(s.Fits))
	case trace.DomainBegins:
		line(0, "%s%s", domain(s), [2]string{"", ", again within the budgets"}[toInt(s.Second)])
	case trace.DomainSkipped:
		line(0, "%s: not searched, nothing better there", domain(s))
	case trace.Skipped:
		line(1, "pass over %s: %s", unit(s), keeps(s))
	case trace.Placed:
		line(1, "without all that may yield: %d of %d placed", s.Count, s.Amount)
	case trace.OverBudget:
		line(1, "%s violates a budget: put back first", unit(s))
	case trace.Floor:
		line(1, "if %s yield: %d placed, %s", upTo(s.Priority), s.Count, [2]string{"too few", "enough"}[toInt(s.Fits)])
	case trace.PutBack:
		line(1, "put back %s: %s", unit(s), [2]string{"the pods keep their room", "the pods are elsewhere"}[toInt(s.Reason == trace.Elsewhere)])
	case trace.Kept:
		line(1, "take %s: the pods need its room", unit(s))
	case trace.DomainEnds:
		line(1, "%s", ends(s))
	case trace.Chosen:
		line(0, "chosen: %s", domain(s))
	case trace.Instant:
		line(0, "at %s: %s", clock(instant.Time(s.At)), [2]string{"no", "succeeds"}[toInt(s.Fits)])
	default:
		line(0, "%v", s.Kind)
	}
}

func place(fits bool) string { return [2]string{"no place", "there is a place"}[toInt(fits)] }

func domain(s *trace.Step) string {
	if s.Domain == "" {
		return "all nodes"
	}
	return s.Domain
}

func unit(s *trace.Step) string {
	if s.Group != "" {
		return "group " + s.Group
	}
	return s.Workload
}

func keeps(s *trace.Step) string {
	why := [...]string{trace.MinRuntime: "minimum runtime", trace.Guarded: "guarded", trace.Terminating: "told to stop too long ago"}[s.Rule]
	if s.Until < math.MaxInt64 {
		why += " until " + clock(instant.Time(s.Until))
	}
	return why
}

func upTo(floor int64) string {
	if floor == math.MinInt64 {
		return "none"
	}
	return fmt.Sprintf("units up to priority %d", floor)
}

func ends(s *trace.Step) string {
	switch s.Found {
	case trace.NoVictims:
		return "nobody there may yield"
	case trace.NoRoom:
		return "no room"
	case trace.Budgets:
		return "only against a budget"
	}
	text := fmt.Sprintf("%d victims, the highest of priority %d", s.Count, s.Priority)
	switch s.Count {
	case 0:
		text = "no victims"
	case 1:
		text = fmt.Sprintf("1 victim of priority %d", s.Priority)
	}
	if s.Violations > 0 {
		text += fmt.Sprintf(", %d pods against a budget", s.Violations)
	}
	return text + [2]string{": not better", ": the best so far"}[toInt(s.Fits)]
}
