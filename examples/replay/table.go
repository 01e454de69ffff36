package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/replay/internal/loop"
)

// summary is a policy in a world, over all seeds.
type summary struct {
	policy string
	loop.Result
	losts []int64 // what was lost, by seed
	most  []int64 // by priority: of the seeds, the longest wait that 95 of 100 do not exceed
}

// worldGroup is a world with its policies, the first of which the others are compared with.
type worldGroup struct {
	world    string
	seeds    int
	policies []*summary
}

// group adds up lines by world and policy, in the order of the sweep.
func group(lines []line) []*worldGroup {
	var groups []*worldGroup
	for i := range lines {
		l := &lines[i]
		g := find(&groups, func(g *worldGroup) bool { return g.world == l.World }, &worldGroup{world: l.World})
		s := find(&g.policies, func(s *summary) bool { return s.policy == l.Policy }, &summary{policy: l.Policy})
		s.add(&l.Result)
		g.seeds = len(g.policies[0].losts)
	}
	return groups
}

func find[T any](list *[]*T, is func(*T) bool, fresh *T) *T {
	if i := slices.IndexFunc(*list, is); i >= 0 {
		return (*list)[i]
	}
	*list = append(*list, fresh)
	return fresh
}

func (s *summary) add(r *loop.Result) {
	s.losts = append(s.losts, r.Lost())
	if len(s.losts) == 1 {
		s.Result = *r
		s.Waits = slices.Clone(r.Waits)
		return
	}
	s.Jobs += r.Jobs
	s.Finished += r.Finished
	s.GPU += r.GPU
	s.Redone += r.Redone
	s.Restarts += r.Restarts
	s.Grace += r.Grace
	s.Evictions += r.Evictions
	s.Preemptions += r.Preemptions
	s.Decisions += r.Decisions
	s.Completion += r.Completion
	s.InUse += r.InUse
	s.Offered += r.Offered
	s.Times.Merge(r.Times)
	for _, w := range r.Waits {
		i := slices.IndexFunc(s.Waits, func(have loop.Wait) bool { return have.Priority <= w.Priority })
		switch {
		case i < 0:
			s.Waits = append(s.Waits, w)
		case s.Waits[i].Priority != w.Priority:
			s.Waits = slices.Insert(s.Waits, i, w)
		default:
			have := &s.Waits[i]
			have.Jobs, have.Sum, have.Evictions = have.Jobs+w.Jobs, have.Sum+w.Sum, have.Evictions+w.Evictions
			have.Most = max(have.Most, w.Most)
		}
	}
}

// perMille returns by how much a is more than b, in thousandths of b, rounded; ok is false if
// b is zero and a is not.
func perMille(a, b int64) (n int64, ok bool) {
	if b == 0 {
		return 0, a == 0
	}
	more := (a - b) * 2000
	if more < 0 {
		return -((-more/b + 1) / 2), true
	}
	return (more/b + 1) / 2, true
}

// change is perMille as a text.
func change(a, b int64) string {
	n, ok := perMille(a, b)
	if !ok {
		return "more"
	}
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	if n == 0 {
		sign = " "
	}
	return fmt.Sprintf("%s%d.%d%%", sign, n/10, n%10)
}

// worstSeed returns the change of what was lost in the seed where it is the worst.
func (s *summary) worstSeed(first *summary) string {
	worst := 0
	for i := range min(len(s.losts), len(first.losts)) {
		a, _ := perMille(s.losts[i], first.losts[i])
		b, _ := perMille(s.losts[worst], first.losts[worst])
		if a > b {
			worst = i
		}
	}
	return change(s.losts[worst], first.losts[worst])
}

// What counts as worse. Both limits have to be exceeded: a mean wait of two seconds is no
// worse for being one second longer.
const (
	tolerance = 10 // thousandths: of the time to completion, and of a wait
	leastWait = 10 // seconds of a mean wait
)

// verdict says whether a policy pays, compared with the first.
func (s *summary) verdict(first *summary) (pays bool, text string) {
	var against []string
	if s.Finished < first.Finished {
		against = append(against, "fewer jobs run")
	}
	if s.Lost() >= first.Lost() {
		against = append(against, "no less is lost")
	}
	if n, ok := perMille(s.Completion, first.Completion); !ok || n > tolerance {
		against = append(against, "jobs are done later")
	}
	for i := range s.Waits {
		if i < len(first.Waits) && worseWait(&s.Waits[i], &first.Waits[i]) {
			against = append(against, fmt.Sprintf("priority %d waits longer", s.Waits[i].Priority))
		}
	}
	if len(against) == 0 {
		return true, s.policy + " pays."
	}
	return false, s.policy + " does not pay: " + strings.Join(against, ", ") + "."
}

// verdicts are the verdicts of all policies but the first, a line each.
func (g *worldGroup) verdicts() (lines []string) {
	for _, s := range g.policies[1:] {
		_, text := s.verdict(g.policies[0])
		lines = append(lines, text)
	}
	return lines
}

func worseWait(w, first *loop.Wait) bool {
	n, ok := perMille(w.Sum, first.Sum)
	return (!ok || n > tolerance) && w.Sum-first.Sum > leastWait*max(1, w.Jobs)
}

// hours returns an amount of work as GPU-hours.
func hours(amount int64) string {
	tenths := (amount/3600 + 50) / 100
	return fmt.Sprintf("%s.%d", thousands(tenths/10), tenths%10)
}

// thousands returns a number with commas.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span returns seconds in the unit that suits them.
func span(seconds int64) string {
	for _, u := range []struct {
		name string
		in   int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}} {
		if seconds >= 2*u.in {
			tenths := (seconds*10 + u.in/2) / u.in
			return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, u.name)
		}
	}
	return fmt.Sprintf("%d s", seconds)
}

func mean(sum, n int64) int64 {
	if n == 0 {
		return 0
	}
	return (sum + n/2) / n
}

func percent(part, of int64) string {
	if of == 0 {
		return "–"
	}
	n := part / max(1, of/1000)
	return fmt.Sprintf("%d.%d%%", n/10, n%10)
}

// title says what was replayed.
func (g *worldGroup) title() string {
	first := g.policies[0]
	text := fmt.Sprintf("%s: %s jobs, %s GPUs, %s", g.world, thousands(int64(first.Jobs)), thousands(first.GPU/1000), span(first.Horizon))
	if g.seeds > 1 {
		text = fmt.Sprintf("%s: %d seeds, %s jobs, %s GPUs, %s each", g.world, g.seeds, thousands(int64(first.Jobs)), thousands(first.GPU/1000/int64(g.seeds)), span(first.Horizon))
	}
	if n := first.Jobs - first.Finished; n > 0 {
		text += fmt.Sprintf("; %s never ran", thousands(int64(n)))
	}
	return text
}

// grid is a table before it has a form.
type grid struct {
	columns []cli.Column
	rows    [][]any
}

func column(name string) cli.Column { return cli.Column{Name: name, Right: true} }

// losses is the first table of a world.
func (g *worldGroup) losses() grid {
	t := grid{columns: []cli.Column{{Name: "policy", Least: 10, Cut: true}, column("lost"), column("change"), column("evicted"), column("in use"),
		column("done in"), column("change")}}
	if g.seeds > 1 {
		t.columns = slices.Insert(t.columns, 3, column("worst"))
	}
	first := g.policies[0]
	for _, s := range g.policies {
		row := []any{s.policy, hours(s.Lost()), "", thousands(s.Evictions), percent(s.InUse, s.Offered), span(mean(s.Completion, int64(s.Finished))), ""}
		if s != first {
			row[2], row[6] = change(s.Lost(), first.Lost()), change(s.Completion, first.Completion)
		}
		if g.seeds > 1 {
			worst := ""
			if s != first {
				worst = s.worstSeed(first)
			}
			row = slices.Insert(row, 3, any(worst))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// waits is the second table of a world.
func (g *worldGroup) waits() grid {
	t := grid{columns: []cli.Column{{Name: "priority", Right: true}, column("jobs"), {Name: "policy", Least: 10, Cut: true}, column("mean wait"), column("change"), column("95 of 100"), column("evicted")}}
	first := g.policies[0]
	for i, of := range first.Waits {
		for _, s := range g.policies {
			if i >= len(s.Waits) {
				continue
			}
			w := s.Waits[i]
			row := []any{"", "", s.policy, span(mean(w.Sum, w.Jobs)), "", span(w.Most), thousands(w.Evictions)}
			if s == first {
				row[0], row[1] = of.Priority, thousands(of.Jobs)
			} else {
				row[4] = change(w.Sum, of.Sum)
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// times is the table of what was measured; nil if nothing was.
func times(groups []*worldGroup) *grid {
	t := grid{columns: []cli.Column{{Name: "world", Least: 12, Cut: true}, {Name: "policy", Least: 10, Cut: true}, column("decisions"), column("mean"), column("99 of 100"), column("longest cycle")}}
	for _, g := range groups {
		for i, s := range g.policies {
			if s.Times.IsZero() {
				continue
			}
			name := g.world
			if i > 0 {
				name = ""
			}
			t.rows = append(t.rows, []any{name, s.policy, thousands(s.Times.Heads), took(s.Times.Total / s.Times.Heads), "< " + took(s.Times.Quantile(99)), took(s.Times.Longest)})
		}
	}
	if len(t.rows) == 0 {
		return nil
	}
	return &t
}

func took(ns int64) string {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.String()
}

const legend = "Lost, in GPU-hours, is work since the last checkpoint and each start-up after the first. In use is the time of all GPUs until the last job comes. " +
	"A policy pays if less is lost than by the first, jobs end at most 1 % later on average, and no priority waits longer by more than 1 % and 10 s on average."

const timed = "How long decisions took on this machine: these numbers differ from run to run. A head is decided about up to twice in a cycle."

func printAll(p *cli.Page, groups []*worldGroup, withTimes bool) {
	for _, g := range groups {
		p.Say("%s\n\n", g.title())
		losses, waits := g.losses(), g.waits()
		p.Table(losses.table())
		for i, s := range g.policies[1:] {
			colour := printable.Plain
			if pays, _ := s.verdict(g.policies[0]); pays {
				colour = printable.Green
			}
			p.SayIn(colour, "%s\n", g.verdicts()[i])
		}
		p.Say("\n")
		p.Table(waits.table())
	}
	p.Say("%s\n", legend)
	if t := times(groups); withTimes && t != nil {
		p.Say("\n%s\n\n", timed)
		p.Table(t.table())
	}
}

func (t *grid) table() *cli.Table {
	made := &cli.Table{Columns: t.columns}
	for _, row := range t.rows {
		made.Row(row...)
	}
	return made
}

// markdown returns all tables in Markdown.
func markdown(groups []*worldGroup, withTimes bool) string {
	var b strings.Builder
	for _, g := range groups {
		printable.Fprintf(&b, "**%s**\n\n", g.title())
		losses, waits := g.losses(), g.waits()
		losses.markdown(&b)
		for _, text := range g.verdicts() {
			printable.Fprintf(&b, "- %s\n", text)
		}
		b.WriteString("\n")
		waits.markdown(&b)
	}
	b.WriteString(legend + "\n")
	if t := times(groups); withTimes && t != nil {
		b.WriteString("\n" + timed + "\n\n")
		t.markdown(&b)
	}
	return b.String()
}

func (t *grid) markdown(b *strings.Builder) {
	b.WriteString("|")
	for _, c := range t.columns {
		b.WriteString(" " + c.Name + " |")
	}
	b.WriteString("\n|")
	for _, c := range t.columns {
		if c.Right {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	for _, row := range t.rows {
		b.WriteString("\n|")
		for _, cell := range row {
			b.WriteString(" " + printable.Text(strings.TrimSpace(fmt.Sprint(cell))) + " |")
		}
	}
	b.WriteString("\n\n")
}
