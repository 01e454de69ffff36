package explain

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Mermaid returns a flowchart: from the question over the levels and the attempts to the
// answer, and from there to what would change it.
func Mermaid(e preemption.Explanation) string { return Printer{}.Mermaid(e) }

// Mermaid is [Mermaid] with other amounts.
func (pr Printer) Mermaid(e preemption.Explanation) string {
	c, q := newChart(), &e.Question
	asks := fmt.Sprintf("%s in queue %s, priority %d", q.Workload, q.Queue, q.Priority)
	if missing := pr.short(q.Needs); missing != "" {
		asks += "\nshort of " + missing
	}
	c.next("question", asks)
	for i := range e.Levels {
		l := &e.Levels[i]
		lines := []string{l.Node, l.Policy, fmt.Sprintf("%d may yield", l.MayYield.Count)}
		for j := range l.Kept {
			lines = append(lines, fmt.Sprintf("%d %s", l.Kept[j].Count, rule(&l.Kept[j], l.Policy, q.Now)))
		}
		c.next(fmt.Sprintf("level%d", i), strings.Join(lines, "\n"))
	}
	if e.Rules != nil {
		lines := []string{rulesTitle(e.Rules)}
		for i := range e.Rules.Tiers {
			t := &e.Rules.Tiers[i]
			lines = append(lines, fmt.Sprintf("%s: %s", t.Trigger, trigger(&e, i)))
			if t.Holds {
				lines = append(lines, fmt.Sprintf("%d may yield", t.MayYield.Count))
			}
		}
		c.next("rules", strings.Join(lines, "\n"))
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		text := fmt.Sprintf("%d taken, %d put back\n%s", a.TakenCount, a.PutBack.Count, pr.end(a))
		c.next(fmt.Sprintf("attempt%d", i), text)
	}
	if e.Improved != nil {
		c.next("improved", strings.Join(append([]string{fmt.Sprintf("%d exchanged", e.Improved.ExchangeCount)}, proof(&e)[:1]...), "\n"))
	}
	c.next("answer", answer(&e))
	return c.end(texts(e.Ways, func(w *preemption.Way) string { return pr.way(w, q.Now) }))
}

// PlacementMermaid is [Mermaid] for a decision about nodes: from the question over who may
// yield and the domains to the answer.
func PlacementMermaid(e placement.Explanation) string { return Printer{}.PlacementMermaid(e) }

// PlacementMermaid is [PlacementMermaid] with other amounts.
func (pr Printer) PlacementMermaid(e placement.Explanation) string {
	c, q := newChart(), &e.Question
	lines := []string{fmt.Sprintf("%s, priority %d", pods(q), q.Priority)}
	for _, s := range e.Decision.Shortage {
		lines = append(lines, "short of "+pr.amount(s.Missing, quota.FlavorResource{Resource: s.Resource})+" on a node")
	}
	c.next("question", strings.Join(lines, "\n"))
	if e.MayYield.Count > 0 || len(e.Kept) > 0 {
		lines := []string{fmt.Sprintf("%d may yield", e.MayYield.Count)}
		for i := range e.Kept {
			lines = append(lines, fmt.Sprintf("%d %s", e.Kept[i].Count, unitRule(&e.Kept[i], q.Now)))
		}
		c.next("units", strings.Join(lines, "\n"))
	}
	for i := range e.Domains {
		d := &e.Domains[i]
		c.next(fmt.Sprintf("domain%d", i), domainName(d)+"\n"+found(d))
	}
	c.next("answer", placementAnswer(&e))
	return c.end(texts(e.Ways, func(w *placement.Way) string { return pr.placementWay(w, q.Now) }))
}

// chart is a flowchart that is being written.
type chart struct {
	strings.Builder
	last string // the node that the next one follows
}

func newChart() *chart {
	c := &chart{}
	c.WriteString("flowchart TD\n")
	return c
}

func (c *chart) node(name, text string) {
	text = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", "<br>").Replace(text)
	fmt.Fprintf(c, "  %s[\"%s\"]\n", name, text)
}

// next adds a node behind the last one.
func (c *chart) next(name, text string) {
	c.node(name, text)
	if c.last != "" {
		fmt.Fprintf(c, "  %s --> %s\n", c.last, name)
	}
	c.last = name
}

// end adds what would change the answer, the last node.
func (c *chart) end(ways []string) string {
	for i, text := range ways {
		name := fmt.Sprintf("way%d", i)
		c.node(name, text)
		fmt.Fprintf(c, "  %s -.-> %s\n", c.last, name)
	}
	return c.String()
}
