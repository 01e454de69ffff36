package main

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

// hues are colours that people with any colour vision tell apart (Okabe and Ito, 2008).
var hues = []color.RGBA{
	{0x00, 0x00, 0x00, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

const (
	panelWidth  = 5 * vg.Inch
	panelHeight = 3.2 * vg.Inch
	panels      = 2 // in a row
	dpi         = 110
)

// canvas is what charts are drawn on.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// drawAll draws the charts of all worlds, one world below the other.
func drawAll(w io.Writer, groups []*worldGroup, png bool) error {
	var on canvas
	width, height := panels*panelWidth, panelHeight*vg.Length(2*len(groups))
	if png {
		on = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	} else {
		on = vgsvg.New(width, height)
	}
	plot.DefaultFont.Variant = "Sans"
	var rows [][]*plot.Plot
	for _, g := range groups {
		charts, err := g.charts()
		if err != nil {
			return err
		}
		rows = append(rows, charts[:2], charts[2:])
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: panels, PadX: vg.Points(16), PadY: vg.Points(14), PadTop: vg.Points(8), PadBottom: vg.Points(8), PadLeft: vg.Points(8), PadRight: vg.Points(14)}
	for y, line := range plot.Align(rows, tiles, draw.New(on)) {
		for x, c := range line {
			rows[y][x].Draw(c)
		}
	}
	_, err := on.WriteTo(w)
	return err
}

// charts draws four charts of a world: what was lost, evictions, waits, GPUs in use.
func (g *worldGroup) charts() ([]*plot.Plot, error) {
	lost, evicted, waits, busy := panel("lost, GPU-hours"), panel("evictions"), panel("mean wait, hours"), panel("GPUs in use, %")
	lost.Title.Text = g.world + "\n" + lost.Title.Text
	if g.seeds > 1 {
		lost.Title.Text += fmt.Sprintf(": mean of %d seeds, least and most", g.seeds)
		waits.Title.Text += fmt.Sprintf(", of all %d seeds", g.seeds)
	}
	days := 0.0
	for i, s := range g.policies {
		for _, l := range s.runs {
			days = max(days, float64(l.Horizon)/86400)
		}
		for _, on := range []struct {
			plot   *plot.Plot
			points func(*sweep.Line) plotter.XYs
		}{
			{lost, func(l *sweep.Line) plotter.XYs { return points(l, l.LostBy, 3600*1000) }},
			{evicted, func(l *sweep.Line) plotter.XYs { return points(l, l.Evicted, 1) }},
			{busy, func(l *sweep.Line) plotter.XYs { return points(l, l.Busy, float64(l.GPU)*float64(l.Busy.Each)/100) }},
		} {
			line, err := s.draw(on.plot, hues[i%len(hues)], on.points)
			if err != nil {
				return nil, err
			}
			if i >= len(hues) {
				line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
			}
			if on.plot == lost {
				lost.Legend.Add(strings.TrimSuffix(s.short+" ("+s.mark()+")", " ()"), line)
			}
		}
		if s.broken {
			continue // most of its waits are not over
		}
		if err := g.bars(waits, i); err != nil {
			return nil, err
		}
	}
	for _, p := range []*plot.Plot{lost, evicted, busy} {
		p.X.Label.Text, p.Y.Min = "days, until the last job comes", 0
		p.X.Min, p.X.Max = 0, days
	}
	busy.Y.Max = max(busy.Y.Max, 100)
	lost.Legend.Top, lost.Legend.Left, lost.Legend.XOffs = true, true, vg.Points(8)
	lost.Y.Max *= 1.35 // room for the legend
	var names []string
	for _, w := range g.policies[0].Priorities {
		names = append(names, w.Name)
	}
	waits.X.Label.Text, waits.Y.Min = "priority", 0
	waits.NominalX(names...)
	return []*plot.Plot{lost, evicted, waits, busy}, nil
}

// draw draws the mean of all seeds as a line, with a band from the least to the most of them. It ends with the seed that ends first.
func (s *summary) draw(on *plot.Plot, hue color.RGBA, of func(*sweep.Line) plotter.XYs) (*plotter.Line, error) {
	var middle, low, high plotter.XYs
	for n, l := range s.runs {
		all := of(l)
		if n == 0 {
			middle, low, high = all, slices.Clone(all), slices.Clone(all)
			continue
		}
		ends := min(len(middle), len(all))
		middle, low, high = middle[:ends], low[:ends], high[:ends]
		for k := range middle {
			middle[k].X = max(middle[k].X, all[k].X)
			middle[k].Y += all[k].Y
			low[k] = plotter.XY{X: middle[k].X, Y: min(low[k].Y, all[k].Y)}
			high[k] = plotter.XY{X: middle[k].X, Y: max(high[k].Y, all[k].Y)}
		}
	}
	for k := range middle {
		middle[k].Y /= float64(len(s.runs))
	}
	if len(s.runs) > 1 && len(middle) > 1 {
		slices.Reverse(low)
		band, err := plotter.NewPolygon(append(high, low...))
		if err != nil {
			return nil, err
		}
		band.Color, band.LineStyle.Width = color.NRGBA{hue.R, hue.G, hue.B, faint}, 0
		on.Add(band)
	}
	line, err := plotter.NewLine(middle)
	if err != nil {
		return nil, err
	}
	line.Color, line.Width = hue, vg.Points(1.5)
	on.Add(line)
	return line, nil
}

// faint is how much of a band is seen, of 255.
const faint = 0x2c

// points are those of a series until the last job comes, or the replay is broken off.
func points(l *sweep.Line, of loop.Series, unit float64) (list plotter.XYs) {
	for k, n := range of.Parts {
		if ends := int64(k+1) * of.Each; l.Circle == "" || ends <= l.End || k == 0 {
			list = append(list, plotter.XY{X: float64(min(ends, l.Horizon)) / 86400, Y: float64(n) / max(unit, 1)})
		}
	}
	return list
}

// bars draws the mean waits of a policy beside those of the others.
func (g *worldGroup) bars(on *plot.Plot, i int) error {
	var values plotter.Values
	for _, w := range g.policies[i].Priorities {
		values = append(values, float64(mean(w.Wait.Sum, w.Jobs))/3600)
	}
	width := 0.7 * panelWidth / vg.Length(len(values)*len(g.policies)+len(values))
	bars, err := plotter.NewBarChart(values, width)
	if err != nil {
		return err
	}
	bars.Color, bars.LineStyle.Width = hues[i%len(hues)], 0
	bars.Offset = width * (vg.Length(i) - vg.Length(len(g.policies)-1)/2)
	on.Add(bars)
	return nil
}

func panel(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.Padding = title, vg.Points(6)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{0xdd}, color.Gray{0xdd}
	p.Add(grid)
	return p
}
