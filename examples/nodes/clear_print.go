package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	svg "github.com/ajstarks/svgo"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
)

func (c *clearing) print(a *cleared, w io.Writer, screen cli.Screen) error {
	b := &cli.Page{Screen: screen}
	if c.isSample {
		b.WriteString("This is the embedded sample. For your cluster:\n" +
			"  kubectl get nodes,pods,poddisruptionbudgets,priorityclasses -A -o json |\n    go run ./examples/nodes clear -topology LABEL\n\n")
	}
	for line := range strings.Lines(explain.ClearText(a.answer)) {
		b.Say("%s\n", strings.TrimSuffix(line, "\n"))
	}
	b.WriteString("\n")
	c.printMeasures(a, b)
	c.printRacks(a, b)
	for _, n := range a.notes[:min(shownNotes, len(a.notes))] {
		b.Say("Note: %s.\n", n)
	}
	if n := len(a.notes) - shownNotes; n > 0 {
		b.Say("And %d more notes.\n", n)
	}
	return b.Print(w)
}

func (c *clearing) measures(a *cleared) (before, after measures) {
	of := func(s *placement.Snapshot) measures {
		return measure(s, c.resource, c.request.Domains, c.request.Stays, a.waiting)
	}
	return of(a.before), of(a.after)
}

func (c *clearing) printMeasures(a *cleared, b *cli.Page) {
	before, after := c.measures(a)
	t := &cli.Table{Columns: []cli.Column{{Name: "measure", Least: 20}, {Name: "before", Right: true}, {Name: "after", Right: true}}}
	row := func(name string, of func(*measures) any) { t.Row(name, of(&before), of(&after)) }
	amount := func(n int64) string { return units.Amount(c.resource, n) }
	row("free nodes", func(m *measures) any { return m.Nodes })
	row("free racks", func(m *measures) any { return m.Racks })
	row(c.resource+" free", func(m *measures) any { return amount(m.Free) })
	row("most free on one node", func(m *measures) any { return amount(m.Largest) })
	row("such nodes in one rack", func(m *measures) any { return m.Gang })
	if before.Waiting > 0 {
		row("free that a waiting pod cannot use, mean", func(m *measures) any { return amount(m.Unusable / m.Waiting) })
	}
	b.Table(t)
	var moved, groups int
	for _, m := range a.answer.Moves {
		moved += len(m.Pods)
		if m.Group != "" {
			groups++
		}
	}
	b.Say("Pods moved: %d, groups moved: %d.\n\n", moved, groups)
}

const bar = 16 // columns of a node in the picture

// used returns how much of a node of a width is taken; a node that is not idle never looks so.
func (c *clearing) used(s *placement.Snapshot, name string, width int) int {
	n, _ := s.Node(name)
	capacity, used := n.Capacity[c.resource], s.UsedOn(name)[c.resource]
	if capacity <= 0 || used <= 0 {
		return 0
	}
	return max(1, int(float64(min(used, capacity))/float64(capacity)*float64(width)))
}

// printRacks draws the racks before and after.
func (c *clearing) printRacks(a *cleared, b *cli.Page) {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "rack", Least: 8, Cut: true}, {Name: "node", Least: 12, Cut: true}, {Name: "before"}, {Name: "after"},
	}}
	rows := 0
	for _, d := range c.request.Domains {
		for i, name := range d.Nodes {
			if rows++; rows > shown {
				continue
			}
			line := func(s *placement.Snapshot) string {
				used := c.used(s, name, bar)
				return strings.Repeat("#", used) + strings.Repeat(".", bar-used)
			}
			rack := ""
			if i == 0 {
				rack = d.Name
			}
			t.Row(rack, name, line(a.before), line(a.after))
		}
	}
	b.Table(t)
	if rows > shown {
		b.Say("... and %d more nodes (-svg for all)\n\n", rows-shown)
	}
	b.Say("#: %s that pods take; .: free.\n", c.resource)
}

// draw draws the racks before and after as SVG.
func (c *clearing) draw(a *cleared) []byte {
	const row, column, width = 22, 320, 160
	height := 40
	for _, d := range c.request.Domains {
		height += row*len(d.Nodes) + 30
	}
	out := new(bytes.Buffer)
	s := svg.New(out)
	s.Start(2*column+40, height+20, `role="img"`)
	s.Title("Racks before and after")
	s.Rect(0, 0, 2*column+40, height+20, "fill:#ffffff;stroke:#d0d7de")
	text := func(x, y, size int, colour, t string) {
		s.Text(x, y, printable.Text(t), fmt.Sprintf("font-family:sans-serif;font-size:%dpx;fill:%s", size, colour))
	}
	for i, half := range []struct {
		name string
		of   *placement.Snapshot
	}{{"before", a.before}, {"after", a.after}} {
		x, y := 24+i*column, 28
		text(x, y, 14, "#1f2328", fmt.Sprintf("%s: %s in use", half.name, c.resource))
		for _, d := range c.request.Domains {
			y += 30
			text(x, y, 12, "#57606a", d.Name)
			for _, name := range d.Nodes {
				text(x+8, y+18, 11, "#1f2328", name)
				s.Rect(x+120, y+8, width, 14, "fill:#f6f8fa;stroke:#57606a")
				if used := c.used(half.of, name, width); used > 0 {
					s.Rect(x+120, y+8, used, 14, "fill:#0969da")
				}
				y += row
			}
		}
	}
	s.End()
	return out.Bytes()
}
