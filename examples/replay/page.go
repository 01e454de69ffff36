package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// writePage writes tables and charts as one file that needs nothing else.
func writePage(w io.Writer, groups []*worldGroup, withTimes bool) error {
	type part struct {
		Name  string
		Table grid
	}
	type worldPart struct {
		Title    string
		Text     string // the answer
		Rests    string
		Pays     bool
		Notes    []string
		Losses   grid
		Verdicts []string
		Charts   template.HTML
		Divided  []part
	}
	var page struct {
		Legend, Timed, Overall string
		Worlds                 []worldPart
		Times                  *grid
	}
	page.Legend, page.Timed, page.Overall = legend(groups), timed, overall(groups)
	for _, g := range groups {
		var drawn bytes.Buffer
		if err := drawAll(&drawn, []*worldGroup{g}, false); err != nil {
			return err
		}
		_, svg, ok := strings.Cut(drawn.String(), "<svg")
		if !ok {
			return fmt.Errorf("world %q: the chart is no SVG", g.world)
		}
		a := g.answer()
		world := worldPart{Title: g.title(), Text: a.text, Rests: a.rests, Pays: a.pays, Notes: g.notes(), Losses: g.losses(),
			Verdicts: texts(g.verdicts()),
			Charts:   template.HTML("<svg" + svg)}
		for kind, d := range by {
			world.Divided = append(world.Divided, part{d.name, g.divided(kind, aboutWaits|aboutDone)})
		}
		page.Worlds = append(page.Worlds, world)
	}
	if withTimes {
		page.Times = times(groups)
	}
	return pageTemplate.Execute(w, page)
}

func texts(verdicts []verdict) (list []string) {
	for _, v := range verdicts {
		list = append(list, v.text)
	}
	return list
}
