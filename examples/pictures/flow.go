package main

import (
	svg "github.com/ajstarks/svgo"

	"github.com/cedesched/cede/preemption"
)

// steps are the questions of a decision in their order, with the outcome that ends it there.
var steps = []struct {
	question string
	answer   string
	outcome  preemption.Outcome
	then     string
}{
	{"is there room?", "yes", preemption.Fits, "admit"},
	{"may enough others yield?", "yes", preemption.Preempt, "evict the victims"},
	{"", "yes, but a gate is closed", preemption.Gated, "raise the signal"},
	{"will time alone change that?", "yes", preemption.Wait, "ask again at RetryAt"},
	{"", "no", preemption.Impossible, "see who blocks, what is short"},
}

// decision draws the life of a decision.
func decision(string) ([]byte, error) {
	out := buffer()
	c := svg.New(out)
	const row, width = 52, 760
	height := 70 + row*len(steps)
	c.Start(width, height, `role="img"`)
	c.Title("The life of a decision")
	c.Roundrect(0, 0, width, height, 8, 8, "fill:#ffffff;stroke:#d0d7de")
	c.Text(24, 34, "a request about a snapshot, at an instant", style(14, "#1f2328"))
	above := 0
	for i, s := range steps {
		y := 56 + i*row
		if s.question != "" {
			if i > 0 {
				c.Line(134, above, 134, y, "stroke:#57606a")
				c.Text(142, (above+y)/2+4, "no", style(11, "#57606a"))
			}
			above = y + 36
			c.Roundrect(24, y, 236, 36, 6, 6, "fill:#ddf4ff;stroke:#54aeff")
			c.Text(34, y+23, s.question, style(12, "#1f2328"))
			c.Line(260, y+18, 440, y+18, "stroke:#57606a")
		} else {
			c.Line(280, y+18-row, 280, y+18, "stroke:#57606a")
			c.Line(280, y+18, 440, y+18, "stroke:#57606a")
		}
		c.Text(288, y+13, s.answer, style(11, "#57606a"))
		c.Roundrect(440, y, 100, 36, 6, 6, "fill:#fff8c5;stroke:#bf8700")
		c.Text(450, y+23, s.outcome.String(), style(12, "#1f2328"))
		c.Text(552, y+23, s.then, style(11, "#57606a"))
	}
	c.End()
	return out.Bytes(), nil
}
