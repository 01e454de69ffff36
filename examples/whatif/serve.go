package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
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
	long: "Answers over HTTP until it is interrupted: POST /v1/decide, /v1/explain and /v1/simulate with a State and Request of cede as JSON, or about the cluster that was read; POST /v1/multikueue with the objects of a manager of MultiKueue and of its workers; GET /v1/workloads lists what waits, GET /v1/workloads/NAMESPACE/NAME/why says why one does, GET /v1/changes is a stream of answers that change, and GET /v1/ask, next, lint, diff, settle, drain and safe answer as the verbs do. GET /openapi.json describes all of it. With -live the answers follow the cluster: of Kueue every change, by a watch; of KAI the cluster is read again every so often. Nothing is changed and nothing is sent anywhere.",
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
		answerFlags(c, o)
	},
	check: func(_ *cobra.Command, o *options) error {
		s := &o.serve
		_, _, err := net.SplitHostPort(s.address)
		switch {
		case err != nil:
			return fmt.Errorf("-addr %q: want an address as in 127.0.0.1:8018", s.address)
		case !s.exposed && !cli.IsHere(s.address):
			return fmt.Errorf("-addr %q: other machines reach it: want an address of this machine alone, or -expose", s.address)
		case s.maxBody < 1:
			return fmt.Errorf("-max-body %d: want at least 1", s.maxBody)
		}
		return checkAnswers(o)
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		listener, err := net.Listen("tcp", o.serve.address)
		if err != nil {
			return result{}, err
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		handler, err := c.answering(ctx, o, std)
		if err != nil {
			return result{}, errors.Join(err, listener.Close())
		}
		if !o.serve.exposed {
			handler = fromHere(handler)
		}
		fmt.Fprintf(std.out, "Answers on http://%s; what can be asked: http://%s/openapi.json (end with Ctrl-C)\n", listener.Addr(), listener.Addr())
		return result{status: cli.StatusYes}, untilInterrupted(std, listener, handler, o.serve.timeout, stop)
	},
}

// answerFlags adds the flags of verbs that answer questions until they are interrupted.
func answerFlags(c *cobra.Command, o *options) {
	c.Flags().DurationVar(&o.serve.timeout, "timeout", 10*time.Second, "give up on an answer after this `TIME`")
	c.Flags().DurationVar(&o.serve.refresh, "refresh", 30*time.Second, "with -live and KAI: read the cluster again after this `TIME`")
}

// checkAnswers returns what is wrong with the flags of [answerFlags].
func checkAnswers(o *options) error {
	o.only = o.namespace
	switch s := &o.serve; {
	case s.timeout <= 0:
		return fmt.Errorf("-timeout %v: want more than 0", s.timeout)
	case s.refresh <= 0:
		return fmt.Errorf("-refresh %v: want more than 0", s.refresh)
	}
	return nil
}

// untilInterrupted serves until the user interrupts; what is asked then is answered, in at most so much time, and streams end.
func untilInterrupted(std stdio, listener net.Listener, handler http.Handler, most time.Duration, end func()) error {
	ctx, stop := std.interrupted()
	defer stop()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	server.RegisterOnShutdown(end)
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
