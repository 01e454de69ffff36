package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
)

//go:embed audit_page.html
var auditPageText string

var auditPage = template.Must(template.New("audit").Funcs(template.FuncMap{"name": printable.Text}).Parse(auditPageText))

// bins is into how many parts of equal length the page divides the time of a history, laneHeight how high the row of a queue is.
const (
	bins       = 96
	laneHeight = 30
)

// bar is how many preemptions of one queue have one verdict in one part of the time.
type bar struct {
	Class           string // right, wrong or unknown
	Count           int
	First           int // its first preemption
	X, Top, Height  int
	Queue, At, Said string
}

// lane is a queue and what it preempted when.
type lane struct {
	Queue  string
	Top    int
	Counts [bins]map[string]*bar
	Bars   []*bar
}

// auditLine is a preemption on the page.
type auditLine struct {
	Number                      int
	Class, Said, Time, Sentence string
	Story                       []string
}

// auditDrawing is what the page shows.
type auditDrawing struct {
	Sentences, Notes    []string
	Unit, From, Until   string
	Columns             []string // of numbers, in the table
	Rows                []auditRow
	Lanes               []*lane
	Width, Height       int
	Right, Wrong, Other int
	Lines               []auditLine
}

// auditRow is a row of the table: its words, and its numbers.
type auditRow struct {
	Words, Numbers []string
}

// class is the verdict as the page draws it, and its word.
func (j *judged) class() (class, word string) {
	switch {
	case j.wrong():
		return "wrong", "not right"
	case j.Verdict == unknownVerdict:
		return "unknown", "unknown"
	}
	return "right", "right"
}

// writePage writes the page into a file.
func (a *auditor) writePage(file string) (size int, err error) {
	all, rows := a.count()
	var out bytes.Buffer
	if err := auditPage.Execute(&out, a.draw(all, rows)); err != nil {
		return 0, err
	}
	return out.Len(), os.WriteFile(file, out.Bytes(), 0o644)
}

// draw lays out the page.
func (a *auditor) draw(all tally, rows []tally) *auditDrawing {
	var head cli.Page
	a.printSentence(&head, all)
	d := &auditDrawing{
		Sentences: strings.Split(strings.TrimSpace(head.String()), "\n"), Notes: a.notes,
		From: clockText(a.first), Until: clockText(a.last), Width: bins * 10,
		Right: all.Right, Wrong: all.NotNeeded + all.NotPermitted, Other: all.Unknown,
	}
	_, d.Unit, _ = strings.Cut(a.hours(0), " ")
	columns := numbers(rows, number{"not started", func(r *tally) int { return r.NotStarted }}, number{"taken back", func(r *tally) int { return r.TakenBack }})
	for _, n := range columns {
		d.Columns = append(d.Columns, n.name)
	}
	for i := range rows {
		r := &rows[i]
		row := auditRow{Words: []string{cmp.Or(r.Queue, "(not known)"), r.causes()}}
		for _, n := range columns {
			row.Numbers = append(row.Numbers, fmt.Sprint(n.of(r)))
		}
		row.Numbers = append(row.Numbers, a.number(r.Lost), a.number(r.Avoidable))
		d.Rows = append(d.Rows, row)
	}
	for i := range a.list {
		j := &a.list[i]
		class, word := j.class()
		d.Lines = append(d.Lines, auditLine{i, class, word, clockText(j.At), a.sentence(j), a.story(j)})
		d.count(j, i, class, word, a.first, a.last)
	}
	d.stack()
	return d
}

// count puts a preemption into its bar.
func (d *auditDrawing) count(j *judged, number int, class, word string, first, last time.Time) {
	queue := cmp.Or(j.Queue, "(not known)")
	at := slices.IndexFunc(d.Lanes, func(l *lane) bool { return l.Queue == queue })
	if at < 0 {
		at, d.Lanes = len(d.Lanes), append(d.Lanes, &lane{Queue: queue})
	}
	x := min(max(int(j.At.Sub(first)/(last.Sub(first)/bins+1)), 0), bins-1)
	counts := &d.Lanes[at].Counts[x]
	if *counts == nil {
		*counts = map[string]*bar{}
	}
	if (*counts)[class] == nil {
		(*counts)[class] = &bar{Class: class, First: number, X: x * 10, Queue: queue, At: clockText(j.At), Said: word}
	}
	(*counts)[class].Count++
}

// stack sorts the lanes and makes the bars of each part of the time stand on each other: what is not right at the bottom.
func (d *auditDrawing) stack() {
	slices.SortFunc(d.Lanes, func(a, b *lane) int { return cmp.Compare(a.Queue, b.Queue) })
	most := 1
	for _, l := range d.Lanes {
		for _, c := range l.Counts {
			sum := 0
			for _, b := range c {
				sum += b.Count
			}
			most = max(most, sum)
		}
	}
	for i, l := range d.Lanes {
		l.Top = i * laneHeight
		for _, c := range l.Counts {
			base := l.Top + laneHeight - 1
			for _, class := range []string{"wrong", "unknown", "right"} {
				if b := c[class]; b != nil {
					b.Height = max(b.Count*(laneHeight-5)/most, 3)
					base -= b.Height
					b.Top, l.Bars = base, append(l.Bars, b)
				}
			}
		}
	}
	d.Height = len(d.Lanes) * laneHeight
}
