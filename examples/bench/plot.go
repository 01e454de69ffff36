package main

import (
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The plot shows worlds that are one cohort tree each, so that every request could reclaim
// from all of it: the number of workloads is the most that a search may have to look at.
var (
	plottedWorlds    = []string{"f1-1k-10-1", "t1-10k-100-tree", "t2-50k-1000-tree", "f5-100k-100-1", "f8-1m-1000-1"}
	plottedScenarios = []plotted{
		{"within-k4", color.RGBA{0x00, 0x72, 0xb2, 0xff}},
		{"reclaim-k4", color.RGBA{0xd5, 0x5e, 0x00, 0xff}},
		{"reclaim-k100", color.RGBA{0x00, 0x9e, 0x73, 0xff}},
		{"infeasible-reclaim", color.RGBA{0xcc, 0x79, 0xa7, 0xff}},
	}
)

type plotted struct {
	name  string
	color color.RGBA
}

func (p plotted) String() string { return p.name }

// plottable fails if the options leave fewer than two points.
func plottable(o options) error {
	worlds, scenarios := 0, 0
	for _, name := range plottedWorlds {
		if o.worlds.match(name) {
			worlds++
		}
	}
	for _, s := range plottedScenarios {
		if o.scenarios.match(s.name) {
			scenarios++
		}
	}
	if worlds < 2 || scenarios == 0 {
		return fmt.Errorf("-plot draws one of the scenarios %v on two of the worlds %v at least", plottedScenarios, plottedWorlds)
	}
	return nil
}

// plotGrowth draws time against workloads, ours and Kueue's. Layout and axes do not depend on
// the measurements.
func plotGrowth(w io.Writer, rows []row) error {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.Title.Text = "One decision: cede (solid), Kueue (dashed)"
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text, p.Y.Label.Text = "workloads in one cohort tree", "time of a decision"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(ticks(1e3, "1k", "10k", "100k", "1M"))
	p.Y.Tick.Marker = plot.ConstantTicks(ticks(1e2, "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"))
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xdd}, color.Gray{0xdd}
	p.Add(grid)
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Points(3)
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(12), -vg.Points(24)
	for _, s := range plottedScenarios {
		var ours, kueues plotter.XYs
		for _, world := range plottedWorlds {
			i := slices.IndexFunc(rows, func(r row) bool { return r.World == world && r.Scenario == s.name })
			if i < 0 {
				continue
			}
			ours = append(ours, plotter.XY{X: float64(rows[i].Workloads), Y: rows[i].Ns})
			if rows[i].KueueNs > 0 {
				kueues = append(kueues, plotter.XY{X: float64(rows[i].Workloads), Y: rows[i].KueueNs})
			}
		}
		for _, series := range []struct {
			points plotter.XYs
			dashes []vg.Length
		}{{ours, nil}, {kueues, []vg.Length{vg.Points(5), vg.Points(4)}}} {
			if len(series.points) < 2 {
				continue
			}
			line, points, err := plotter.NewLinePoints(series.points)
			if err != nil {
				return err
			}
			line.Color, line.Width, line.Dashes = s.color, vg.Points(1.5), series.dashes
			points.Color, points.Shape, points.Radius = s.color, draw.CircleGlyph{}, vg.Points(2.5)
			p.Add(line, points)
			if series.dashes == nil {
				p.Legend.Add(s.name, line)
			}
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 700, 1.5e6, 100, 2e11
	canvas := vgsvg.New(8*vg.Inch, 6*vg.Inch)
	p.Draw(draw.Crop(draw.New(canvas), vg.Points(8), -vg.Points(16), vg.Points(8), -vg.Points(8)))
	_, err := canvas.WriteTo(w)
	return err
}

// ticks are labels at powers of ten.
func ticks(from float64, labels ...string) []plot.Tick {
	var list []plot.Tick
	for _, label := range labels {
		list = append(list, plot.Tick{Value: from, Label: label})
		from *= 10
	}
	return list
}
