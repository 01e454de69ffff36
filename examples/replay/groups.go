package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/loop"
)

// division is a way in which tables divide the jobs.
type division struct {
	name   string // in -by, and of the column
	groups func(*summary) []loop.Group
}

var by = []division{
	{"priority", func(s *summary) []loop.Group { return slices.Concat([]loop.Group{s.all()}, s.Priorities) }},
	{"size", func(s *summary) []loop.Group { return s.Sizes }},
	{"queue", func(s *summary) []loop.Group { return s.Queues }},
}

// all is the group of all jobs.
func (s *summary) all() loop.Group {
	g := s.All
	g.Name = "all"
	return g
}

// parseBy reads the value of -by.
func parseBy(text string) (kinds []int, err error) {
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(by, func(d division) bool { return d.name == word })
		if i < 0 || slices.Contains(kinds, i) {
			return nil, fmt.Errorf("-by %q: want some of priority, size, queue", text)
		}
		kinds = append(kinds, i)
	}
	return kinds, nil
}

// parts of a table of groups: what is about waits, what is about the time to completion, or both.
const (
	aboutWaits = 1 << iota
	aboutDone
)

// divided is the table of a world by group and policy.
func (g *worldGroup) divided(kind, about int) grid {
	named := cli.Column{Name: by[kind].name, Right: kind == 0, Least: 10, Cut: true}
	t := grid{Columns: []cli.Column{named, column("jobs"), {Name: "policy", Least: 10, Cut: true}}}
	if about&aboutWaits != 0 {
		t.Columns = append(t.Columns, column("wait"), column("change"), column("95%"), column("99%"), column("evicted"))
	}
	if about&aboutDone != 0 {
		t.Columns = append(t.Columns, column("done in"), column("change"), column("95%"), column("99%"), column("lost"))
	}
	first := g.policies[0]
	for _, of := range by[kind].groups(first) {
		for _, s := range g.policies {
			groups := by[kind].groups(s)
			i := slices.IndexFunc(groups, func(o loop.Group) bool { return o.Name == of.Name })
			if i < 0 {
				continue
			}
			is := &groups[i]
			row := []any{"", "", s.short}
			if s == first {
				row[0], row[1] = of.Name, humanize.Comma(of.Jobs)
			}
			changed := func(now, before int64) string {
				switch {
				case s == first:
					return ""
				case s.broken || first.broken:
					return "–"
				}
				return change(now, before)
			}
			if about&aboutWaits != 0 {
				row = append(row, span(mean(is.Wait.Sum, is.Jobs)), changed(is.Wait.Sum, of.Wait.Sum),
					span(is.Wait.Quantile(95)), span(is.Wait.Quantile(99)), humanize.Comma(is.Evictions))
			}
			if about&aboutDone != 0 {
				row = append(row, span(mean(is.Done.Sum, is.Jobs)), changed(is.Done.Sum, of.Done.Sum),
					span(is.Done.Quantile(95)), span(is.Done.Quantile(99)), hours(is.Lost))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// tables are those of a kind: one, or two if one is too wide for the page.
func (g *worldGroup) tables(kind int, fits func(*cli.Table) bool) []grid {
	whole := g.divided(kind, aboutWaits|aboutDone)
	if fits(whole.table()) {
		return []grid{whole}
	}
	return []grid{g.divided(kind, aboutWaits), g.divided(kind, aboutDone)}
}
