package world

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Quantiles that were measured on four published traces. The traces are not part of this
// project; the file names them.
//
//go:embed profiles.json
var embedded []byte

// profile is what was measured of one trace. Quantiles are at the points 0, 1 %, 5 %, 10 %,
// 25 %, 50 %, 75 %, 90 %, 95 %, 99 % and 100 %.
type profile struct {
	Source  string
	PerHour []int64 // quantiles of the jobs that arrive in an hour
	Mean    int64   // jobs in a thousand hours
	Minutes bool    // the clock of the source ticks in minutes
	Queues  []struct {
		Queue        string
		Weight, Jobs int64
	}
	Classes []class
}

// class is jobs of one kind.
type class struct {
	Queue    string // the queue of its jobs; empty: by the jobs of the queues
	Priority *int64 // nil: low 0, middle 100, high 1000, of 30 %, 60 % and 10 % of the jobs
	Jobs     int64
	Run      []int64          // quantiles, in seconds
	GPU      map[string]int64 // jobs by GPUs
	CPU      []int64          `json:",omitempty"` // quantiles, in thousandths
}

// points are the quantiles of profiles, in hundredths of a percent.
var points = []int64{0, 100, 500, 1000, 2500, 5000, 7500, 9000, 9500, 9900, 10000}

func profiles() map[string]profile {
	var all map[string]profile
	if err := json.Unmarshal(embedded, &all); err != nil {
		panic(err) // it is embedded, and a test reads it
	}
	return all
}

// Sources returns the names of the worlds that can be drawn.
func Sources() []string {
	var names []string
	for name := range profiles() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Draw draws the jobs of a source. The same seed draws the same jobs on every machine.
func Draw(source string, days int64, seed uint64) (Trace, error) {
	p, ok := profiles()[source]
	if !ok {
		return Trace{}, fmt.Errorf("unknown world %q: want one of %v, or a file", source, Sources())
	}
	h := fnv.New64a()
	h.Write([]byte(source))
	d := drawer{rand.New(rand.NewPCG(seed, h.Sum64()))}
	t := Trace{Name: source, CountsCPU: true, Invented: []string{"the jobs, drawn from what was measured of " + source}}
	if slices.ContainsFunc(p.Classes, func(c class) bool { return c.Priority == nil }) {
		t.invent(inventedPriorities)
	}
	var classes, queues, gpuWeights []int64
	for _, c := range p.Classes {
		classes = append(classes, c.Jobs)
	}
	for _, q := range p.Queues {
		t.Shares = append(t.Shares, Share{q.Queue, q.Weight})
		queues = append(queues, q.Jobs)
	}
	for _, at := range d.arrivals(&p, days) {
		c := &p.Classes[d.pick(classes)]
		j := Job{ID: fmt.Sprintf("%s-%05d", source, len(t.Jobs)), Queue: c.Queue, Submit: at, Work: d.quantile(c.Run)}
		if j.Queue == "" {
			j.Queue = p.Queues[d.pick(queues)].Queue
		}
		if c.Priority != nil {
			j.Priority = *c.Priority
		} else {
			j.Priority = []int64{0, 100, 1000}[d.pick([]int64{3, 6, 1})]
		}
		sizes := sizesOf(c.GPU)
		gpuWeights = gpuWeights[:0]
		for _, s := range sizes {
			gpuWeights = append(gpuWeights, c.GPU[s.text])
		}
		j.GPU = sizes[d.pick(gpuWeights)].milli
		if len(c.CPU) > 0 {
			j.CPU = d.quantile(c.CPU)
		}
		if p.Minutes {
			j.Submit, j.Work = j.Submit/60*60, max(60, j.Work/60*60)
		}
		t.Jobs = append(t.Jobs, j)
	}
	t.sorted()
	return t, nil
}

type size struct {
	text  string
	milli int64
}

// sizesOf returns the sizes of a class, smallest first.
func sizesOf(gpu map[string]int64) []size {
	var list []size
	for text := range gpu {
		n, _ := strconv.ParseFloat(text, 64)
		list = append(list, size{text, int64(math.Round(n * 1000))})
	}
	slices.SortFunc(list, func(a, b size) int { return int(a.milli - b.milli) })
	return list
}

// drawer draws with integers and square roots alone, which are the same on every machine.
type drawer struct{ *rand.Rand }

// arrivals draws the times of submission: a number of jobs for each hour, each at some second
// of it. The numbers are scaled so that their mean is as measured.
func (d drawer) arrivals(p *profile, days int64) []int64 {
	counts := make([]int64, days*24)
	var sum int64
	for i := range counts {
		counts[i] = d.quantile(p.PerHour)
		sum += counts[i]
	}
	want := p.Mean * int64(len(counts)) / 1000
	var at []int64
	var carried int64
	for hour, n := range counts {
		carried += n * want
		for ; sum > 0 && carried >= sum; carried -= sum {
			at = append(at, int64(hour)*3600+d.Int64N(3600))
		}
	}
	slices.Sort(at)
	return at
}

// pick returns an index with the probability of its weight.
func (d drawer) pick(weights []int64) int {
	var sum int64
	for _, w := range weights {
		sum += w
	}
	n := d.Int64N(sum)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	return len(weights) - 1
}

// quantile draws from measured quantiles. Between two points it goes by the logarithm.
func (d drawer) quantile(values []int64) int64 {
	at := d.Int64N(10000)
	i := 1
	for at >= points[i] {
		i++
	}
	low, high := values[i-1], values[i]
	return between(low, high, d.Int64N(1<<16))
}

// between returns the value at part/65536 of the way from low to high, by the logarithm: it
// halves the interval sixteen times.
func between(low, high, part int64) int64 {
	a, b := float64(low+1), float64(high+1)
	for bit := 15; bit >= 0; bit-- {
		product := a * b // a root of one product is rounded alike everywhere
		middle := math.Sqrt(product)
		if part>>bit&1 == 1 {
			a = middle
		} else {
			b = middle
		}
	}
	return int64(a) - 1
}
