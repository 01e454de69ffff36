package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	svg "github.com/ajstarks/svgo"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
)

func (c *clearing) printJSON(a *cleared, w io.Writer) error {
	return printJSON(w, struct {
		Verdict string             `json:"verdict"`          // yes, no or unknown
		Doubts  []string           `json:"doubts,omitempty"` // why it is unknown
		Request moves.ClearRequest `json:"request"`
		Answer  moves.ClearAnswer  `json:"answer"` // as far as is known
		Notes   []string           `json:"notes,omitempty"`
	}{a.verdict(), a.doubts, c.request, a.answer, a.notes})
}

func (c *clearing) printText(a *cleared, w io.Writer, screen cli.Screen) error {
	b := &cli.Page{Screen: screen}
	if c.isSample {
		b.WriteString("This is the embedded sample. For your cluster:\n" +
			"  kubectl get nodes,pods,poddisruptionbudgets,priorityclasses -A -o json |\n    cede-nodes clear -topology LABEL\n\n")
	}
	if len(a.doubts) > 0 {
		printDoubts(b, "as many can be emptied", a.doubts)
		b.Say("What follows is the answer as far as is known.\n\n")
	}
	b.WriteString(explain.Printer{Amount: units.Amount, Width: cmp.Or(screen.Width, -1)}.ClearText(a.answer) + "\n")
	c.printRacks(a, b)
	printNotes(b, a.notes)
	return b.Print(w)
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

// drawn are the racks; without any, one of all nodes.
func (c *clearing) drawn(a *cleared) []placement.Domain {
	if c.topology != "" {
		return c.request.Domains
	}
	all := placement.Domain{Name: "all nodes"}
	for n := range a.before.Nodes() {
		all.Nodes = append(all.Nodes, n.Name)
	}
	return []placement.Domain{all}
}

// printRacks draws the racks before and after.
func (c *clearing) printRacks(a *cleared, b *cli.Page) {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "rack", Least: 8, Cut: true}, {Name: "node", Least: 12, Cut: true}, {Name: "before"}, {Name: "after"},
	}}
	rows := 0
	for _, d := range c.drawn(a) {
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
	if c.topology == "" {
		t.Drop(0)
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
	for _, d := range c.drawn(a) {
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
		for _, d := range c.drawn(a) {
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
