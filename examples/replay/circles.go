package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// named is how many jobs of a circle a line names.
const named = 4

// mark marks a policy in tables and charts; empty: there is nothing to say.
func (s *summary) mark() string {
	if s.broken {
		return "broken off"
	}
	for _, l := range s.runs {
		if len(l.Circles) > 0 {
			return "circles"
		}
	}
	return ""
}

// circles says which jobs take the same room back and forth, and whether that was broken off;
// empty: none do.
func (s *summary) circles() string {
	var worst *loop.Circle
	var of *sweep.Line
	n := 0
	for _, l := range s.runs {
		for i := range l.Circles {
			if n++; worst == nil || l.Circles[i].Evictions > worst.Evictions {
				worst, of = &l.Circles[i], l
			}
		}
	}
	var parts []string
	if worst != nil {
		seed := ""
		if len(s.runs) > 1 {
			seed = fmt.Sprintf(" (seed %d)", of.Seed)
		}
		jobs := strings.Join(worst.Jobs[:min(named, len(worst.Jobs))], ", ")
		if more := len(worst.Jobs) - named; more > 0 {
			jobs += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%d jobs take the same room from each other, %s times from %s to %s%s: %s",
			len(worst.Jobs), humanize.Comma(worst.Evictions), clock(worst.From), clock(worst.To), seed, jobs))
	}
	switch {
	case n == 2:
		parts = append(parts, "there is another circle")
	case n > 2:
		parts = append(parts, fmt.Sprintf("there are %d more circles", n-1))
	}
	for _, l := range s.runs {
		if l.Circle != "" {
			parts = append(parts, fmt.Sprintf("broken off at %s with %s of %s jobs finished: its numbers end there", clock(l.End), humanize.Comma(int64(l.Finished)), humanize.Comma(int64(l.Jobs))))
			break
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return s.policy + " circles: " + strings.Join(parts, "; ") + "."
}

// clock returns a second of a replay as a day and a time.
func clock(second int64) string {
	return fmt.Sprintf("day %d %02d:%02d:%02d", second/86400+1, second/3600%24, second/60%60, second%60)
}
