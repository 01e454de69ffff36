package main

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/cedesched/cede/preemption/recorded"
)

// measures are what the page draws, each with what it is of a row.
var measures = []struct {
	name string
	of   func(*row) float64
}{
	{"time", func(r *row) float64 { return r.Ns }},
	{"steps", func(r *row) float64 { return float64(r.Steps) }},
	{"allocations", func(r *row) float64 { return float64(r.Allocs) }},
}

// page is what the template shows.
type page struct {
	Reports []report
	Charts  []chart
	Changes []change
}

type chart struct {
	Name string
	SVG  template.HTML // drawn here
}

// change is a row that the last report has otherwise than the one before.
type change struct{ Name, Steps, Allocs, Time string }

var pageTemplate = template.Must(template.New("page").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>cede: what decisions cost, by commit</title>
<style>body{font-family:system-ui,sans-serif;margin:2em;max-width:70em}table{border-collapse:collapse}td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ddd}svg{max-width:100%;height:auto}</style></head>
<body><h1>What decisions cost, by commit</h1>
<p>{{len .Reports}} reports. A line is a scenario: the geometric mean over its worlds, relative to the first report that has it. Steps and
allocations are those of any machine; time is that of the machine that measured.</p>
{{range .Charts}}<h2>{{.Name}}</h2>
{{.SVG}}
{{end}}<h2>The last report and the one before</h2>
{{if .Changes}}<table><tr><th>row</th><th>steps</th><th>allocations</th><th>time</th></tr>
{{range .Changes}}<tr><td>{{.Name}}</td><td>{{.Steps}}</td><td>{{.Allocs}}</td><td>{{.Time}}</td></tr>
{{end}}</table>{{else}}<p>No row differs in steps, or by more than a quarter in allocations or time.</p>{{end}}
<h2>Reports</h2>
<table><tr><th></th><th>commit</th><th>machine</th><th>rows</th></tr>
{{range $i, $r := .Reports}}<tr><td>{{$i}}</td><td>{{$r.Commit}}</td><td>{{with $r.Machine}}{{.CPU}}, {{.Processors}} processors, {{.OS}}/{{.Arch}}, {{.Go}}{{end}}</td><td>{{len $r.Rows}}</td></tr>
{{end}}</table></body></html>
`))

// printPage prints the page of a table: a report in each line, the oldest first.
func printPage(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var p page
	err = recorded.Lines(file, f, func(_ int, line []byte) error {
		r, err := parseReport(line)
		p.Reports = append(p.Reports, r)
		return err
	})
	if err == nil && len(p.Reports) == 0 {
		err = fmt.Errorf("%s: it has no report", file)
	}
	for _, m := range measures {
		if err != nil {
			return err
		}
		var svg bytes.Buffer
		err = drawMeasure(&svg, m.name, seriesOf(p.Reports, m.of))
		text := svg.String()
		p.Charts = append(p.Charts, chart{m.name, template.HTML(text[max(0, strings.Index(text, "<svg")):])})
	}
	if err != nil {
		return err
	}
	p.Changes = changesOf(p.Reports)
	return pageTemplate.Execute(w, p)
}

// seriesOf returns the points of each scenario: by the number of the report, the geometric mean of what its rows are to the first that
// there are of their names.
func seriesOf(reports []report, of func(*row) float64) map[string]plotter.XYs {
	first, series := map[string]float64{}, map[string]plotter.XYs{}
	for x := range reports {
		logs, counts := map[string]float64{}, map[string]float64{}
		for i := range reports[x].Rows {
			r := &reports[x].Rows[i]
			v := of(r)
			if v <= 0 {
				continue
			}
			if first[r.Name] == 0 {
				first[r.Name] = v
			}
			name := strings.TrimSpace(r.Scenario + " " + string(r.Mode))
			logs[name] += math.Log(v / first[r.Name])
			counts[name]++
		}
		for name, n := range counts {
			series[name] = append(series[name], plotter.XY{X: float64(x), Y: math.Exp(logs[name] / n)})
		}
	}
	return series
}

func drawMeasure(w io.Writer, name string, series map[string]plotter.XYs) error {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "report", name+", first report = 1"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0.5, 1.5
	p.Add(plotter.NewGrid())
	p.Legend.Top = true
	p.Legend.XOffs = vg.Points(190)
	for i, name := range slices.Sorted(maps.Keys(series)) {
		line, points, err := plotter.NewLinePoints(series[name])
		if err != nil {
			return err
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i/7)
		points.Color, points.Shape, points.Radius = line.Color, draw.CircleGlyph{}, vg.Points(1.5)
		p.Add(line, points)
		p.Legend.Add(name, line)
	}
	canvas := vgsvg.New(11*vg.Inch, 6*vg.Inch)
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(8), -vg.Points(200), vg.Points(8), -vg.Points(8)))
	_, err := canvas.WriteTo(w)
	return err
}

// changesOf lists the rows of the last report that differ from the one before.
func changesOf(reports []report) (list []change) {
	if len(reports) < 2 {
		return nil
	}
	before := map[string]*row{}
	for i, rows := 0, reports[len(reports)-2].Rows; i < len(rows); i++ {
		before[rows[i].Name] = &rows[i]
	}
	for _, r := range reports[len(reports)-1].Rows {
		old := before[r.Name]
		if old == nil || r.Steps == old.Steps && !apart(float64(r.Allocs), float64(old.Allocs)) && !apart(r.Ns, old.Ns) {
			continue
		}
		list = append(list, change{r.Name, fmt.Sprintf("%d → %d", old.Steps, r.Steps), fmt.Sprintf("%d → %d", old.Allocs, r.Allocs),
			short(old.Ns) + " → " + short(r.Ns)})
	}
	return list
}

// apart reports whether two numbers differ by more than a quarter.
func apart(a, b float64) bool { return max(a, b) > 1.25*min(a, b) }
