package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
)

// serving are the options of serve.
type serving struct {
	address string
	exposed bool
	maxBody int64
	timeout time.Duration
	refresh time.Duration
}

var serveVerb = verb{
	name: "serve", short: "the same answers over HTTP, for dashboards and other programs",
	long: "Answers over HTTP until it is interrupted: POST /v1/decide, /v1/explain and /v1/simulate with a State and Request of cede as JSON, or about the cluster that was read; POST /v1/multikueue with the objects of a manager of MultiKueue and of its workers; GET /v1/workloads/NAMESPACE/NAME/why says why a workload of it waits. GET /openapi.json describes all of it. With -live the answers follow the cluster: of Kueue every change, by a watch; of KAI the cluster is read again every so often. Nothing is changed and nothing is sent anywhere.",
	examples: []string{
		"serve",
		"serve -live",
		"serve -f cluster.json -addr 127.0.0.1:9000",
	},
	yes: "it was interrupted",
	flags: func(c *cobra.Command, o *options) {
		flags, s := c.Flags(), &o.serve
		flags.StringVar(&s.address, "addr", "127.0.0.1:8018", "serve on `ADDRESS`; port 0 is any free one")
		flags.BoolVar(&s.exposed, "expose", false, "permit an address that other machines reach: every machine may then ask, and read the cluster")
		flags.Int64Var(&s.maxBody, "max-body", 64<<20, "refuse bodies of more than so many `BYTES`")
		flags.DurationVar(&s.timeout, "timeout", 10*time.Second, "give up on an answer after this `TIME`")
		flags.DurationVar(&s.refresh, "refresh", 30*time.Second, "with -live and KAI: read the cluster again after this `TIME`")
	},
	check: func(_ *cobra.Command, o *options) error {
		s := &o.serve
		o.only = o.namespace
		_, _, err := net.SplitHostPort(s.address)
		switch {
		case err != nil:
			return fmt.Errorf("-addr %q: want an address as in 127.0.0.1:8018", s.address)
		case !s.exposed && !cli.IsHere(s.address):
			return fmt.Errorf("-addr %q: other machines reach it: want an address of this machine alone, or -expose", s.address)
		case s.maxBody < 1:
			return fmt.Errorf("-max-body %d: want at least 1", s.maxBody)
		case s.timeout <= 0:
			return fmt.Errorf("-timeout %v: want more than 0", s.timeout)
		case s.refresh <= 0:
			return fmt.Errorf("-refresh %v: want more than 0", s.refresh)
		}
		return nil
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		listener, err := net.Listen("tcp", o.serve.address)
		if err != nil {
			return result{}, err
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		var now atomic.Pointer[serve.Cluster]
		now.Store(c.served(o, std))
		set := func(c *cluster) { now.Store(c.served(o, std)) }
		switch live := o.reads(std); {
		case live && c.ByFairShares():
			go readAgain(ctx, c, o, std, set)
		case live:
			if err := followEvents(ctx, c, o, std, set); err != nil {
				return result{}, errors.Join(err, listener.Close())
			}
		}
		fleet := func(body *serve.Fleet) (workers.Answers, error) { return fleetOf(body, o, std) }
		handler := serve.Handler(serve.Options{Cluster: now.Load, Fleet: fleet, Now: func() time.Time { return c.asked(o, std) }, MaxBody: o.serve.maxBody, Timeout: o.serve.timeout})
		if !o.serve.exposed {
			handler = fromHere(handler)
		}
		fmt.Fprintf(std.out, "Answers on http://%s; what can be asked: http://%s/openapi.json (end with Ctrl-C)\n", listener.Addr(), listener.Addr())
		return result{status: cli.StatusYes}, untilInterrupted(std, listener, handler, o.serve.timeout)
	},
}

// untilInterrupted serves until the user interrupts; what is asked then is answered, in at most so much time.
func untilInterrupted(std stdio, listener net.Listener, handler http.Handler, most time.Duration) error {
	ctx, stop := std.interrupted()
	defer stop()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	return server.Shutdown(last)
}

// asked is the time of a question without one.
func (c *cluster) asked(o *options, std stdio) time.Time {
	if o.asked || c.Sample != "" {
		return c.Now
	}
	return std.clock.Now().Add(o.in)
}

// served is the cluster as questions see it.
func (c *cluster) served(o *options, std stdio) *serve.Cluster {
	notes := c.inputNotes()
	var asking serve.Asking
	if c.ByFairShares() {
		notes, asking = append(notes, "workloads that edits of a simulation add hold no room on nodes"), c.asking
	}
	return &serve.Cluster{Snapshot: c.Snapshot, Config: c.Config, Notes: notes, Asking: asking, Why: func(id string) (serve.Why, error) {
		if _, runs := c.Snapshot.Find(id); runs {
			return serve.Why{}, fmt.Errorf("%w: %s holds quota", serve.ErrRuns, id)
		}
		at := *c
		at.Now = c.asked(o, std)
		asks := *o
		asks.workload = id
		a, err := at.ask(asks)
		if err != nil {
			return serve.Why{}, fmt.Errorf("%w: %w", serve.ErrNotThere, err)
		}
		return a.explain()
	}, List: func(ctx context.Context) (serve.List, error) {
		at := *c
		at.Now = c.asked(o, std)
		return at.list(ctx, o)
	}}
}

// list answers about all that waits.
func (c *cluster) list(ctx context.Context, o *options) (serve.List, error) {
	waits, err := c.waiting(o)
	if err != nil {
		return serve.List{}, err
	}
	out := serve.List{Workloads: []serve.Waits{}, Notes: c.inputNotes()}
	_, err = c.ShortenAll(ctx, waits, answers.MaxSteps, func(i int, s *answers.Short) {
		if w := &waits[i]; s != nil {
			out.Workloads = append(out.Workloads, serve.Waits{Workload: w.Workload.ID, Queue: w.Workload.Queue, Position: w.Position, Priority: w.Workload.EffectivePriority(), Queued: w.Workload.Queued, Short: *s})
		}
	})
	out.More = len(waits) - len(out.Workloads)
	return out, err
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
		notReadAgain(std, err)
	}
}

// notReadAgain says why the answers are about the cluster as it was.
func notReadAgain(std stdio, err error) {
	fmt.Fprintf(std.err, "%s: the cluster was not read again: %s\n", std.name, printable.Line(err.Error()))
}

// fromHere refuses requests by another name than this machine's: a page of the web must not read the cluster through a name
// that leads here.
func fromHere(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !cli.IsHere(r.Host) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(w).Encode(serve.Failure{Error: "this server answers for its own machine"})
			return
		}
		h.ServeHTTP(w, r)
	})
}
