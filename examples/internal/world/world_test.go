package world

import (
	"reflect"
	"slices"
	"testing"
)

// A profile draws what it says: the mean number of jobs, their queues and their classes. The
// same seed draws the same.
func TestDraw(t *testing.T) {
	for name, p := range profiles() {
		const days = 20
		drawn, err := Draw(name, days, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.Mean * days * 24 / 1000; int64(len(drawn.Jobs)) < want-2 || int64(len(drawn.Jobs)) > want {
			t.Errorf("%s: %d jobs, want %d", name, len(drawn.Jobs), want)
		}
		queues := map[string]bool{}
		for _, s := range drawn.Shares {
			queues[s.Queue] = true
		}
		var longest int64
		for _, c := range p.Classes {
			if len(c.Run) != len(points) || !slices.IsSorted(c.Run) {
				t.Errorf("%s: quantiles of runs: %v", name, c.Run)
			}
			longest = max(longest, slices.Max(c.Run))
		}
		priorities := map[int64]int{}
		for i, j := range drawn.Jobs {
			priorities[j.Priority]++
			if !queues[j.Queue] || j.GPU <= 0 || j.Work < 1 || j.Work > longest || j.Submit < 0 || j.Submit >= days*86400 || i > 0 && j.Submit < drawn.Jobs[i-1].Submit {
				t.Fatalf("%s: %+v", name, j)
			}
		}
		if len(priorities) < 3 {
			t.Errorf("%s: priorities %v", name, priorities)
		}
		again, _ := Draw(name, days, 1)
		if other, _ := Draw(name, days, 2); !reflect.DeepEqual(drawn, again) || reflect.DeepEqual(drawn, other) {
			t.Errorf("%s: seeds", name)
		}
	}
	if len(Sources()) != 4 {
		t.Errorf("sources %v", Sources())
	}
}

// Half of what is drawn lies below the median, and nothing outside.
func TestBetween(t *testing.T) {
	for _, c := range []struct{ low, high, part, want int64 }{
		{0, 0, 0, 0}, {7, 7, 65535, 7}, {0, 99, 0, 0}, {0, 99, 32768, 9}, {99, 9999, 32768, 999}, {1200, 4842984, 65535, 4842370},
	} {
		if got := between(c.low, c.high, c.part); got != c.want {
			t.Errorf("between(%d, %d, %d) = %d, want %d", c.low, c.high, c.part, got, c.want)
		}
	}
}

// Quotas add up to the capacity; the first queue by name gets what does not divide. The capacity is not less than the largest job takes.
func TestNew(t *testing.T) {
	jobs := []Job{{ID: "a", GPU: 7000, Work: 10}, {ID: "b", GPU: 3000, CPU: 500, Submit: 5, Work: 10}, {ID: "c", GPU: 4000, Submit: 10, Work: 1}}
	s := Defaults()
	s.Capacity, s.Cohorts, s.Limit = 77, 2, 50
	w := New(Trace{Jobs: jobs, CountsCPU: true, Shares: []Share{{"p", 1}, {"q", 2}, {"r", 0}}}, s)
	if w.GPU != 7000 || w.CPU != 500 || len(w.Cohorts) != 3 {
		t.Errorf("%d GPUs, %d CPUs, %d cohorts", w.GPU, w.CPU, len(w.Cohorts))
	}
	for i, want := range []struct{ gpu, limit, cpu int64 }{{2334, 1167, 167}, {4666, 2333, 333}, {0, 0, 0}} {
		q := w.Queues[i].Quotas
		if limit, ok := q[0].BorrowingLimit.Get(); q[0].Nominal != want.gpu || !ok || limit != want.limit || q[1].Nominal != want.cpu {
			t.Errorf("queue %d: %+v", i, q)
		}
	}
	if w.Queues[0].Cohort == w.Queues[1].Cohort || w.Queues[0].Cohort != w.Queues[2].Cohort {
		t.Error("queues are not dealt to the cohorts")
	}
}

func TestParseName(t *testing.T) {
	source, s, err := ParseName("x/y.csv+capacity=60+checkpoint=30m+within=Never+strategy=StrictFIFO")
	want := Defaults()
	want.Capacity, want.Checkpoint, want.Within, want.Strategy, want.given = 60, 1800, s.Within, s.Strategy, s.given
	if err != nil || source != "x/y.csv" || !reflect.DeepEqual(s, want) || s.Within == Defaults().Within || s.Strategy == Defaults().Strategy {
		t.Errorf("%q, %+v, %v", source, s, err)
	}
}
