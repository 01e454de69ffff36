package explain

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/preemption"
)

// Mermaid returns a flowchart: from the question over the levels and the attempts to the
// answer, and from there to what would change it.
func Mermaid(e preemption.Explanation) string {
	c := &chart{}
	c.WriteString("flowchart TD\n")
	q := &e.Question
	asks := fmt.Sprintf("%s in queue %s, priority %d", q.Workload, q.Queue, q.Priority)
	if missing := short(q.Needs); missing != "" {
		asks += "\nshort of " + missing
	}
	c.node("question", asks)
	last := "question"
	for i := range e.Levels {
		l := &e.Levels[i]
		lines := []string{l.Node, l.Policy, fmt.Sprintf("%d may yield", l.MayYield.Count)}
		for j := range l.Kept {
			lines = append(lines, fmt.Sprintf("%d %s", l.Kept[j].Count, rule(&l.Kept[j], q.Now)))
		}
		last = c.next(last, fmt.Sprintf("level%d", i), strings.Join(lines, "\n"))
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		text := fmt.Sprintf("%d taken, %d put back\n%s", a.TakenCount, a.PutBack.Count, end(a))
		last = c.next(last, fmt.Sprintf("attempt%d", i), text)
	}
	c.next(last, "answer", answer(&e))
	for i := range e.Ways {
		name := fmt.Sprintf("way%d", i)
		c.node(name, way(&e.Ways[i], q.Now))
		fmt.Fprintf(c, "  answer -.-> %s\n", name)
	}
	return c.String()
}

type chart struct{ strings.Builder }

func (c *chart) node(name, text string) {
	text = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "\n", "<br>").Replace(text)
	fmt.Fprintf(c, "  %s[\"%s\"]\n", name, text)
}

func (c *chart) next(from, name, text string) string {
	c.node(name, text)
	fmt.Fprintf(c, "  %s --> %s\n", from, name)
	return name
}
