package best

import (
	"slices"
	"testing"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/internal/engine/right"
	"github.com/cedesched/cede/internal/engine/search"
)

// The values after an exchange are those of the set that it makes, for each exchange in each set of units.
func TestValuesAfterAnExchange(t *testing.T) {
	some, going := &cluster.Workload{Template: &cluster.Template{}}, &cluster.Workload{Template: &cluster.Template{Leaving: 1}}
	of := func(w *cluster.Workload, set, elastic int, cost int64) (u unit) {
		u.Workload, u.Set, u.elastic, u.cost = w, set, elastic, cost
		return u
	}
	x := exchanger{&Solver{}}
	p, e := &x.problem, &x.exchanges
	p.s = &search.Search{Case: right.Case{Request: &right.Request{Better: right.Better{Cost: func(*cluster.Workload, int) int64 { return 0 }}}}}
	p.units = []unit{
		of(some, -1, 0, 16), of(some, 0, 0, 1), of(some, 0, 0, 1), of(some, 1, 0, 2), // a workload, or replicas of it
		of(some, -1, 1, 4), of(going, -1, 1, 0), // another one, or what is leaving of it
		of(some, -1, -1, 8),
	}
	// set makes a set, unless units of it exclude each other.
	set := func(chosen []int) bool {
		e.chosen, p.yields = chosen, make([]yields, 2)
		for _, i := range chosen {
			if p.conflicts(&p.units[i]) {
				return false
			}
			p.yield(&p.units[i], 1)
		}
		return true
	}
	looked := 0
	check := func(chosen []int, in, a, b int) {
		var after []int
		for at, i := range chosen {
			if at != a && at != b {
				after = append(after, i)
			}
		}
		if in != noUnit {
			after = append(after, in)
		}
		if !set(after) {
			return
		}
		want := x.values()
		set(chosen)
		e.values = x.values()
		if got := x.valuesAfter(in, a, b); got != want {
			t.Fatalf("units %v without the %d. and the %d., with %d: %v, want %v", chosen, a, b, in, got, want)
		}
		looked++
	}
	for mask := range 1 << len(p.units) {
		var chosen []int
		for i := range p.units {
			if mask>>i&1 == 1 {
				chosen = append(chosen, i)
			}
		}
		if !set(chosen) {
			continue
		}
		for in := noUnit; in < len(p.units); in++ {
			for a := 0; a < len(chosen) && !slices.Contains(chosen, in); a++ {
				check(chosen, in, a, noUnit)
				for b := a + 1; b < len(chosen); b++ {
					check(chosen, in, a, b)
				}
			}
		}
	}
	if looked < 1000 {
		t.Errorf("only %d exchanges", looked)
	}
}
