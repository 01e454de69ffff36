package loop

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/world"
)

// Result is what a replay came to, in integers. Amounts of work are in thousandths of a GPU ×
// seconds.
type Result struct {
	Jobs     int      `json:"jobs"`
	Finished int      `json:"finished"`
	GPU      int64    `json:"gpu"`             // the capacity, in thousandths
	Unit     string   `json:"unit"`            // what that is: GPU, or CPU
	Notes    []string `json:"notes,omitempty"` // what to know about the jobs and the cluster: what is invented, left out, changed
	Peak     int64    `json:"peak"`            // the most that was held at one time
	Horizon  int64    `json:"horizon"`         // the time of the last submission
	End      int64    `json:"end"`             // the time of the last event

	Done     int64 `json:"done"`     // work that was kept
	Redone   int64 `json:"redone"`   // work that was lost
	Restarts int64 `json:"restarts"` // start-ups after the first of a job
	StartUp  int64 `json:"startUp"`  // first start-ups
	Grace    int64 `json:"grace"`    // room that jobs held after they had stopped
	Held     int64 `json:"held"`     // all room that was held

	Evictions   int64 `json:"evictions"`
	OfOne       int64 `json:"ofOne"`       // the most evictions of one job
	Preemptions int64 `json:"preemptions"` // decisions with victims
	Decisions   int64 `json:"decisions"`   // heads that were decided about

	InUse   int64 `json:"inUse"`   // until the horizon
	Offered int64 `json:"offered"` // the capacity until then

	All        Group   `json:"all"`
	Priorities []Group `json:"priorities"` // the highest first
	Sizes      []Group `json:"sizes"`      // by GPUs, the smallest first
	Queues     []Group `json:"queues"`     // those with the most jobs first

	LostBy  Series `json:"lostBy"`  // lost by the end of each part of the time
	Evicted Series `json:"evicted"` // evictions by then
	Busy    Series `json:"busy"`    // work, start-ups and lost work in each part of the time

	Circles []Circle `json:"circles,omitempty"`

	Times Times `json:"times,omitzero"`

	kinds kinds
}

// Lost is all that was lost to evictions: work, start-ups, and the room that was held after it.
func (r *Result) Lost() int64 { return r.Redone + r.Restarts + r.Grace }

// parts is the number of parts into which the time to the horizon is divided.
const parts = 60

// Series is a sum for each part of the time to the horizon.
type Series struct {
	Parts []int64 `json:"parts"`
	Each  int64   `json:"each"`            // the seconds of a part
	After int64   `json:"after,omitempty"` // what came after the last part
}

func (s *Series) begin(horizon int64) {
	s.Parts, s.Each = make([]int64, parts), max(1, (horizon+parts-1)/parts)
}

func (s *Series) add(at, amount int64) {
	if i := at / s.Each; i < parts {
		s.Parts[i] += amount
	} else {
		s.After += amount
	}
}

// from adds an amount for all time from an instant to the horizon, to takes it away.
func (s *Series) from(at, amount int64) {
	for i := at / s.Each; i < parts; i++ {
		s.Parts[i] += amount * ((i+1)*s.Each - max(at, i*s.Each))
	}
}

func (s *Series) to(at, amount int64) { s.from(at, -amount) }

// Times is how long decisions took. It differs from run to run and machine to machine.
type Times struct {
	Heads    int64   `json:"heads"`
	Total    int64   `json:"ns"`
	Longest  int64   `json:"longest"`  // cycle, in nanoseconds
	Slowness []int64 `json:"slowness"` // heads by the binary logarithm of nanoseconds per head
}

// Merge adds what was measured elsewhere.
func (t *Times) Merge(other Times) {
	t.Heads, t.Total, t.Longest = t.Heads+other.Heads, t.Total+other.Total, max(t.Longest, other.Longest)
	t.Slowness = slices.Clone(t.Slowness)
	for i, n := range other.Slowness {
		if i == len(t.Slowness) {
			t.Slowness = append(t.Slowness, 0)
		}
		t.Slowness[i] += n
	}
}

// Quantile returns a bound, in nanoseconds, that so many of 100 heads do not exceed.
func (t Times) Quantile(of100 int64) int64 {
	var sum int64
	for i, n := range t.Slowness {
		if sum += n; sum*100 >= t.Heads*of100 {
			return 1 << min(i, 62)
		}
	}
	return t.Longest
}

// IsZero reports whether nothing was measured.
func (t Times) IsZero() bool { return t.Heads == 0 }

func (t *Times) add(took time.Duration, heads int) {
	if t.Slowness == nil {
		t.Slowness = make([]int64, 64)
	}
	t.Heads += int64(heads)
	t.Total += int64(took)
	t.Longest = max(t.Longest, int64(took))
	t.Slowness[bits.Len64(uint64(took)/uint64(heads))] += int64(heads)
}

func (r *Result) begin(w *world.World, _ *Policy) {
	r.Jobs, r.GPU, r.Unit, r.Notes, r.Horizon = len(w.Jobs), w.GPU, w.Unit, w.Notes, w.Horizon()
	r.makeGroups(w)
	r.LostBy.begin(r.Horizon)
	r.Evicted.begin(r.Horizon)
	r.Busy.begin(r.Horizon)
}

// finished counts a job that has ended.
func (r *Result) finished(l *Loop, j *job) {
	r.Finished++
	if !l.counts(j.Submit) {
		return
	}
	for _, g := range r.groupsOf(j.Job) {
		g.add(j, l.now)
	}
}

// end sums up.
func (r *Result) end(l *Loop) {
	r.End, r.Circles = l.now, l.circles()
	for i, part := range r.Busy.Parts {
		from, to := int64(i)*r.Busy.Each, int64(i+1)*r.Busy.Each
		if from >= l.world.Warmup && (l.world.Window == 0 || to <= l.world.Warmup+l.world.Window) {
			r.Offered += r.GPU * r.Busy.Each
			r.InUse += part
		}
	}
	r.each((*Group).end)
	for _, s := range []*Series{&r.LostBy, &r.Evicted} {
		for i := 1; i < parts; i++ {
			s.Parts[i] += s.Parts[i-1]
		}
	}
}

// Check fails if the result, read from a file, is none that a replay writes.
func (r *Result) Check() error {
	for name, n := range map[string]int64{"jobs": int64(r.Jobs), "gpu": r.GPU, "horizon": r.Horizon, "done": r.Done, "redone": r.Redone, "restarts": r.Restarts, "grace": r.Grace,
		"evictions": r.Evictions, "finished": int64(r.Finished)} {
		if n < 0 {
			return fmt.Errorf("%s: %d is negative", name, n)
		}
	}
	for name, s := range map[string]Series{"lostBy": r.LostBy, "evicted": r.Evicted, "busy": r.Busy} {
		if len(s.Parts) != parts || s.Each < 1 {
			return fmt.Errorf("%s: %d parts of %d seconds, want %d", name, len(s.Parts), s.Each, parts)
		}
	}
	var err error
	r.each(func(g *Group) {
		if bad := cmp.Or(g.Wait.check(), g.Done.check()); bad != nil && err == nil {
			err = fmt.Errorf("%s: %w", g.Name, bad)
		}
	})
	return err
}
