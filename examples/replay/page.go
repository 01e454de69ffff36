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
	type worldPart struct {
		Title         string
		Losses, Waits grid
		Notes         []string
		Verdicts      []string
		Charts        template.HTML
	}
	var page struct {
		Legend, Timed string
		Worlds        []worldPart
		Times         *grid
	}
	page.Legend, page.Timed = legend, timed
	for _, g := range groups {
		var drawn bytes.Buffer
		if err := drawAll(&drawn, []*worldGroup{g}, false); err != nil {
			return err
		}
		_, svg, ok := strings.Cut(drawn.String(), "<svg")
		if !ok {
			return fmt.Errorf("world %q: the chart is no SVG", g.world)
		}
		page.Worlds = append(page.Worlds, worldPart{g.title(), g.losses(), g.waits(), g.notes(), texts(g.verdicts()), template.HTML("<svg" + svg)})
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
