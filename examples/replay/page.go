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

type pageTable struct {
	Columns []pageColumn
	Rows    [][]pageCell
}

type pageColumn struct {
	Name  string
	Right bool
}

type pageCell struct {
	Text  string
	Right bool
}

// writePage writes tables and charts as one file that needs nothing else.
func writePage(w io.Writer, groups []*worldGroup, withTimes bool) error {
	type worldPart struct {
		Title         string
		Losses, Waits pageTable
		Verdicts      []string
		Charts        template.HTML
	}
	var page struct {
		Legend, Timed string
		Worlds        []worldPart
		Times         *pageTable
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
		page.Worlds = append(page.Worlds, worldPart{g.title(), g.losses().page(), g.waits().page(), texts(g.verdicts()), template.HTML("<svg" + svg)})
	}
	if t := times(groups); withTimes && t != nil {
		made := t.page()
		page.Times = &made
	}
	return pageTemplate.Execute(w, page)
}

func texts(verdicts []verdict) (list []string) {
	for _, v := range verdicts {
		list = append(list, v.text)
	}
	return list
}

func (t grid) page() pageTable {
	var made pageTable
	for _, c := range t.columns {
		made.Columns = append(made.Columns, pageColumn{c.Name, c.Right})
	}
	for _, row := range t.rows {
		var cells []pageCell
		for i, cell := range row {
			text := fmt.Sprint(cell)
			cells = append(cells, pageCell{text, t.columns[i].Right})
		}
		made.Rows = append(made.Rows, cells)
	}
	return made
}
