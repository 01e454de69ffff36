package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
)

// print prints the guarantees as a table, or of one queue in sentences.
func (g *guarantees) print(b *cli.Page, one bool) {
	for _, doubt := range g.Doubts {
		b.SayIn(answers.ColourOf(answers.Unknown), "Unknown: %s. As far as is known:\n", doubt)
	}
	if one {
		g.Queues[0].print(b, g.keeps())
		return
	}
	b.Say("Within its " + g.keeps() + " a queue loses nothing to other queues, whatever their priority. Else a job can lose its place to requests of:\n")
	b.Gap()
	t := &cli.Table{Columns: []cli.Column{{Name: "queue", Least: 30, Cut: true}, {Name: "its own queue", Least: 20}, {Name: "others, while it borrows", Least: 24}}}
	for i := range g.Queues {
		q := &g.Queues[i]
		t.Row(q.Queue, q.Own.text(), q.others(mostNames))
	}
	b.Table(t)
}

// keeps is what no other queue takes anything of.
func (g *guarantees) keeps() string {
	if g.byFairShares {
		return "fair share"
	}
	return "nominal quota"
}

// mostNames is how long the names of queues in a cell of the table are together.
const mostNames = 30

// print prints one guarantee in sentences.
func (q *guarantee) print(b *cli.Page, keeps string) {
	b.Say("A job in %s can lose its place to requests\n", q.Queue)
	b.SayAt(2, "of its own queue: %s;\n", q.Own.text())
	b.SayAt(2, "of other queues, while %s is within its %s: nobody;\n", q.Queue, keeps)
	b.SayAt(2, "of other queues, while %s borrows: %s.\n", q.Queue, q.others(math.MaxInt))
}

// text says what a queue can take.
func (t *taker) text() string {
	text := map[string]string{
		nobody: "nobody", higher: "higher priority", older: "higher priority, or an equal that waits for longer", anybody: "any priority",
	}[t.Who]
	if t.OnlyBorrowing && t.UpTo != nil {
		text += fmt.Sprintf(" over jobs up to %d", *t.UpTo)
	}
	if t.EqualsAfter > 0 {
		text += "; after " + lasting(t.EqualsAfter) + " any equal"
	}
	if t.After > 0 {
		text += ", after " + lasting(t.After)
	}
	return text
}

// others says what other queues can take: those that take the same together, by name if the names have no more bytes than that.
func (q *guarantee) others(most int) string {
	var texts []string
	by := map[string][]string{}
	for i := range q.Others {
		text := q.Others[i].text()
		if q.Others[i].OnlyBorrowing {
			text += " (to borrow)"
		}
		if by[text] == nil {
			texts = append(texts, text)
		}
		by[text] = append(by[text], q.Others[i].Queue)
	}
	slices.Sort(texts)
	var parts []string
	for _, text := range texts {
		names := strings.Join(by[text], ", ")
		if n := len(by[text]); n > 1 && len(names) > most {
			names = fmt.Sprintf("%d queues", n)
		}
		parts = append(parts, text+" of "+names)
	}
	if len(parts) == 0 {
		return "nobody"
	}
	return strings.Join(parts, "; ")
}

// lasting is a duration without zeros at its end.
func lasting(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}
