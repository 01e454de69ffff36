package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/history"
	"github.com/cedesched/cede/examples/internal/interval"
	"github.com/cedesched/cede/examples/internal/loop"
	"github.com/cedesched/cede/examples/internal/printable"
	worlds "github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/workload"
)

// replayed is what follows where the jobs of a history come again, as the cluster was and with the changes.
type replayed struct {
	Jobs    int `json:"jobs"`
	LeftOut int `json:"leftOut"` // that never ran: how long they would is not known
	// History is how many evictions by preemption the history has.
	History int64  `json:"history"`
	AsWas   replay `json:"asWas"`
	Changed replay `json:"changed"`
	// Low and High bound, with 95 % confidence, how many evictions fewer there are with the changes: the time is divided into
	// parts, of which each counts by itself. Absent: no eviction differs.
	Low  *int64 `json:"low,omitempty"`
	High *int64 `json:"high,omitempty"`
	// Broken says why the replay was broken off; the numbers are then those until there.
	Broken string `json:"broken,omitempty"`
}

// replay is what one replay came to.
type replay struct {
	Evictions int64 `json:"evictions"`
	Finished  int64 `json:"finished"`
	Lost      int64 `json:"lost"` // amounts × seconds
	Wait      int64 `json:"wait"` // seconds, the mean of the jobs that finished
}

// jobs are the jobs of a history: what each asks for, when it came and how long it works.
type jobs struct {
	list    []worlds.Job
	whole   []workload.Workload
	leftOut int
	cluster *cluster
}

// jobs makes jobs of the workloads of the history.
func (a *kueuePast) jobs() (*jobs, error) {
	m, err := newMoment().after(a.history.Waiting())
	if err != nil {
		return nil, err
	}
	o := *a.o
	o.now = a.last
	js := &jobs{}
	if js.cluster, err = m.cluster(&o, a.std); err != nil {
		return nil, err
	}
	a.config(js.cluster) // it chooses the resources whose use counts as lost
	all, seen := a.history.Jobs(), map[string]bool{}
	slices.SortStableFunc(all, func(x, y history.Job) int { return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.UID, y.UID)) })
	for _, j := range all {
		p := pendingOf(js.cluster, j.Workload)
		work := a.work(j.Runs)
		if p == nil || work == 0 {
			js.leftOut++
			continue
		}
		w := js.cluster.Standing(p, p.LocalNotes, answers.Namespace(j.Workload)).Request.Workload
		if w.Queue == "" || js.cluster.findQueue(w.Queue) == nil {
			js.leftOut++
			continue
		}
		if seen[w.ID] {
			w.ID += "/" + j.UID
		}
		seen[w.ID] = true
		js.whole = append(js.whole, w)
		js.list = append(js.list, worlds.Job{ID: w.ID, Queue: w.Queue, Priority: w.Priority, GPU: a.counted(&w), Work: work,
			Submit: int64(j.Created.Sub(all[0].Created) / time.Second)})
	}
	if len(js.list) == 0 {
		return nil, errors.New("no job of the history has run")
	}
	return js, nil
}

// work is how many seconds a job works: its last run, and what the checkpoints of the others kept. Without checkpoints the
// longest run, for one that was cut off says no more than that.
func (a *kueuePast) work(runs []time.Duration) (seconds int64) {
	every := a.o.audit.checkpoint
	for i, run := range runs {
		run = max(run, time.Second)
		switch {
		case every == 0:
			seconds = max(seconds, int64(run/time.Second))
		case i+1 < len(runs):
			seconds += int64((run - run%every) / time.Second)
		default:
			seconds += int64(run / time.Second)
		}
	}
	return seconds
}

// mostCounted bounds what a job takes, so that sums over years are no overflow.
const mostCounted = 1 << 30

// counted is how much a job takes of what counts as lost.
func (a *kueuePast) counted(w *workload.Workload) (n int64) {
	for _, of := range w.Usage() {
		if slices.Contains(a.resources, of.Resource) {
			n += min(of.Amount, mostCounted)
		}
	}
	return min(n, mostCounted)
}

// Replay replays the history as the cluster was and with the changes of the command line.
func (a *kueuePast) Replay() (*replayed, error) {
	js, err := a.jobs()
	if err != nil {
		return nil, err
	}
	other, err := js.cluster.other(a.o, a.std)
	if err != nil {
		return nil, err
	}
	r := &replayed{Jobs: len(js.list), LeftOut: js.leftOut}
	for i := range a.list {
		r.History += int64(len(a.list[i].Victims))
	}
	was, toldBefore, err := a.replay(js, js.cluster, r)
	if err != nil {
		return nil, err
	}
	then, toldThen, err := a.replay(js, other, r)
	if err != nil {
		return nil, err
	}
	r.AsWas, r.Changed = replayOf(&was), replayOf(&then)
	fewer, each := make([]float64, parts), max(was.End, then.End)/parts+1
	for _, second := range toldBefore {
		fewer[second/each]++
	}
	for _, second := range toldThen {
		fewer[second/each]--
	}
	if low, high, ok := interval.Of(fewer); ok && low != high {
		bottom, top := int64(math.Round(low*parts)), int64(math.Round(high*parts))
		r.Low, r.High = &bottom, &top
	}
	return r, nil
}

// parts is into how many parts of equal length the time of a replay is divided.
const parts = 60

// replay replays the jobs in one cluster, and returns the seconds in which one was told to leave.
func (a *kueuePast) replay(js *jobs, c *cluster, r *replayed) (_ loop.Result, told []int64, err error) {
	w := &worlds.World{Unit: worlds.GPU, Cohorts: c.State.Cohorts, Queues: c.State.Queues, Rules: c.State.Rules, Whole: js.whole}
	w.Jobs, w.Checkpoint, w.Grace = js.list, int64(a.o.audit.checkpoint/time.Second), int64(a.history.Grace()/time.Second)
	p := loop.Policy{Name: "as in the history", Config: c.Config}
	p.Config.MaxBlockers = -1
	l, err := loop.New(w, p)
	if err != nil {
		return loop.Result{}, nil, err
	}
	l.Follow = func(h loop.Happening) {
		if h.What == loop.Told {
			told = append(told, h.Second)
		}
	}
	result, err := l.Run()
	if errors.Is(err, loop.ErrCircle) {
		r.Broken, err = err.Error(), nil
	}
	return result, told, err
}

func replayOf(r *loop.Result) replay {
	o := replay{Evictions: r.Evictions, Finished: int64(r.Finished), Lost: r.Lost()}
	if n := r.All.Jobs; n > 0 {
		o.Wait = r.All.Wait.Sum / n
	}
	return o
}

// printReplay says what follows from the changes.
func (a *auditor) printReplay(b *cli.Page) {
	r := a.replayed
	if r == nil {
		return
	}
	if r.Broken != "" {
		b.Say("Replayed, jobs evict each other without an end: %s.\n", r.Broken)
		return
	}
	text := fmt.Sprintf("Replayed, the %s of the history are evicted %s as the cluster was (in truth %s), and %s with the changes",
		plural(r.Jobs, "1 job", "%d jobs"), times(r.AsWas.Evictions), times(r.History), times(r.Changed.Evictions))
	if r.Low != nil {
		text += fmt.Sprintf(": with 95 %% confidence %s", fewerOf(*r.Low, *r.High))
	}
	b.Say("%s.\n", text)
	if off := r.AsWas.Evictions - r.History; max(off, -off) > 3+r.History/4 {
		b.SayIn(printable.Yellow, "The replay is not like the history: do not rely on it.\n")
	}
	b.Say("They lose %s in place of %s, and wait %v in place of %v on average.\n", a.hours(r.Changed.Lost), a.hours(r.AsWas.Lost),
		time.Duration(r.Changed.Wait)*time.Second, time.Duration(r.AsWas.Wait)*time.Second)
}

func times(n int64) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// fewerOf says an interval of differences.
func fewerOf(low, high int64) string {
	switch {
	case low >= 0:
		return fmt.Sprintf("%d to %d fewer", low, high)
	case high <= 0:
		return fmt.Sprintf("%d to %d more", -high, -low)
	}
	return fmt.Sprintf("between %d more and %d fewer", -low, high)
}

// replayer is a history that can be replayed.
type replayer interface {
	Replay() (*replayed, error)
}

// replayAll replays the history, where the command line changes something.
func (a *auditor) replayAll() error {
	for _, p := range a.pasts {
		if of, is := p.(replayer); is && a.o.changes() {
			r, err := of.Replay()
			if err != nil {
				a.notes = append(a.notes, "it was not replayed: "+err.Error())
				continue
			}
			a.replayed = r
		}
	}
	return nil
}
