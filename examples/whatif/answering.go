package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

// answering answers questions about the cluster over HTTP; with -live it follows the cluster until the context ends.
func (c *cluster) answering(ctx context.Context, o *options, std stdio) (http.Handler, error) {
	var latest serve.Latest
	set := func(c *cluster) { latest.Set(c.served(o, std)) }
	set(c)
	std.notRead = latest.Fail
	switch live := o.reads(std); {
	case live && c.ByFairShares():
		go readAgain(ctx, c, o, std, set)
	case live:
		if err := followEvents(ctx, c, o, std, set); err != nil {
			return nil, err
		}
	}
	return serve.Handler(serve.Options{
		Cluster: latest.Get, Changed: latest.Changed, Read: latest.Read, Ends: ctx.Done(),
		Fleet: func(body *serve.Fleet) (workers.Answers, error) { return fleetOf(body, o, std) },
		Now:   func() time.Time { return c.asked(o, std) }, MaxBody: o.serve.maxBody, Timeout: o.serve.timeout,
	}), nil
}

// asked is the time of a question without one.
func (c *cluster) asked(o *options, std stdio) time.Time {
	if o.asked || c.Sample != "" {
		return c.Now
	}
	return std.clock.Now().Add(o.in)
}

// at is the cluster at the time of a question without one.
func (c *cluster) at(o *options, std stdio) *cluster {
	at := *c
	at.Now = c.asked(o, std)
	return &at
}

// served is the cluster as questions see it.
func (c *cluster) served(o *options, std stdio) *serve.Cluster {
	notes := c.inputNotes()
	var asking serve.Asking
	if c.ByFairShares() {
		asking = c.asking
	}
	return &serve.Cluster{Snapshot: c.Snapshot, Config: c.Config, Notes: notes, Asking: asking, Why: func(id string) (serve.Why, error) {
		if _, runs := c.Snapshot.Find(id); runs && c.checked(id) == "" {
			return serve.Why{}, fmt.Errorf("%w: %s holds quota", serve.ErrRuns, id)
		}
		asks := *o
		asks.workload = id
		a, err := c.at(o, std).ask(asks)
		if err != nil {
			return serve.Why{}, fmt.Errorf("%w: %w", serve.ErrNotThere, err)
		}
		return a.explain()
	}, List: func(ctx context.Context) (serve.List, error) {
		return c.at(o, std).list(ctx, o)
	}, Doubts: c.doubtsByField, Verbs: c.verbsServed(o, std)}
}

// list answers about all that waits.
func (c *cluster) list(ctx context.Context, o *options) (serve.List, error) {
	waits, err := c.waiting(o)
	if err != nil {
		return serve.List{}, err
	}
	out := serve.List{Workloads: []serve.Waits{}, Notes: c.inputNotes()}
	found, err := c.ShortenAll(ctx, waits, answers.MaxSteps, func(int, *answers.Short) {})
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return out, err
	}
	for i := range waits {
		w := &waits[i]
		row := serve.Waits{Workload: w.Workload.ID, Queue: w.Workload.Queue, Position: w.Position, Priority: w.Workload.EffectivePriority(), Queued: w.Workload.Queued}
		if found[i] != nil {
			row.Short = *found[i]
			out.Workloads = append(out.Workloads, row)
			continue
		}
		row.Short = answers.Short{Outcome: answers.Unknown, Words: "unknown: it was not looked at"}
		out.Skipped = append(out.Skipped, row)
	}
	out.More = len(out.Skipped)
	return out, nil
}

// doubtsByField counts what is not known and not accepted, by its field or object.
func (c *cluster) doubtsByField() map[string]int {
	count := map[string]int{}
	for i := range c.Found.Doubts {
		if d := &c.Found.Doubts[i]; !c.Found.Accepts(&d.Note) {
			count[d.Assumption()]++
		}
	}
	return count
}

// readAgain calls set with the cluster each time that it was read again. A reading that fails leaves the cluster as it was.
func readAgain(ctx context.Context, c *cluster, o *options, std stdio, set func(*cluster)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(o.serve.refresh):
		}
		nodes := new(rooms.Nodes)
		in, err := readInput(o, std, nodes)
		if err == nil {
			var fresh *cluster
			if fresh, err = newCluster(in, nodes, o, std, c.Snapshot); err == nil {
				c = fresh
				set(c)
				continue
			}
		}
		std.countNotRead()
		notReadAgain(std, err)
	}
}

// notReadAgain says why the answers are about the cluster as it was.
func notReadAgain(std stdio, err error) {
	fmt.Fprintf(std.err, "%s: the cluster was not read again: %s\n", std.name, printable.Line(err.Error()))
}
