// Package serve answers questions about preemption over HTTP: decide, explain, simulate, and why a workload of a cluster waits.
// State, Request and answers are the library's, as JSON. A state comes with the question, or is that of a cluster which the
// program has read. openapi.json describes all of it.
package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// Cluster is what questions without a state of their own are about.
type Cluster struct {
	Snapshot *preemption.Snapshot
	Config   preemption.Config
	// Notes say what the snapshot leaves out of the cluster.
	Notes []string
	// Why answers for a workload of the cluster, by its ID. The error is [ErrNotThere] if there is none of that name.
	// It is [ErrRuns] if that one holds quota already.
	Why func(id string) (Why, error)
}

// Why is why a workload waits.
type Why struct {
	Verdict answers.Verdict `json:"verdict"`
	// Explanation is absent if nothing can be decided.
	Explanation *explain.Explanation `json:"explanation,omitempty"`
	Notes       []string             `json:"notes"`
}

var (
	// ErrNotThere says that the cluster has no such workload.
	ErrNotThere = errors.New("not in the cluster")
	// ErrRuns says that it holds quota already.
	ErrRuns = errors.New("it does not wait")
)

// Options configure a handler.
type Options struct {
	// Cluster returns the cluster as it was read last. It must not be nil.
	Cluster func() *Cluster
	// Now returns the time of questions that have none.
	Now func() time.Time
	// MaxBody is the size of the largest body in bytes. Zero: 64 MiB.
	MaxBody int64
	// Timeout is how long a question may wait and be answered. Zero: 10 s. What is being decided then is decided to its end, and
	// the answer is dropped.
	Timeout time.Duration
	// AtOnce is how many questions are answered at once; others wait. Zero: one for each processor.
	AtOnce int
}

// Description is the OpenAPI description of the interface.
//
//go:embed openapi.json
var Description []byte

// server answers questions.
type server struct {
	Options
	slots chan struct{}
}

// Handler answers questions.
func Handler(o Options) http.Handler {
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.AtOnce == 0 {
		o.AtOnce = runtime.GOMAXPROCS(0)
	}
	s := &server{o, make(chan struct{}, o.AtOnce)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/decide", question(s, (*server).decide))
	mux.HandleFunc("POST /v1/explain", question(s, (*server).explain))
	mux.HandleFunc("POST /v1/simulate", question(s, (*server).simulate))
	mux.HandleFunc("GET /v1/workloads/{namespace}/{name}/why", s.why)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(Description)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	return mux
}

// question handles questions with a body of type B.
func question[B any](s *server, answer func(*server, context.Context, *B) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.in(w, r, func(ctx context.Context) (any, error) {
			body := new(B)
			if err := s.read(w, r, body); err != nil {
				return nil, err
			}
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			return answer(s, ctx, body)
		})
	}
}

func (s *server) why(w http.ResponseWriter, r *http.Request) {
	s.in(w, r, func(context.Context) (any, error) {
		return s.Cluster().Why(r.PathValue("namespace") + "/" + r.PathValue("name"))
	})
}

// in answers when it is the turn of the question, within the time that it has.
func (s *server) in(w http.ResponseWriter, r *http.Request, answer func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		s.write(w, nil, ctx.Err())
		return
	}
	type answered struct {
		value any
		err   error
	}
	done := make(chan answered, 1)
	go func() {
		defer func() { <-s.slots }()
		value, err := answer(ctx)
		done <- answered{value, err}
	}()
	select {
	case a := <-done:
		s.write(w, a.value, a.err)
	case <-ctx.Done():
		s.write(w, nil, ctx.Err())
	}
}

// write writes an answer, or what is wrong.
func (s *server) write(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if err != nil {
		status, value = statusOf(err), failure(err)
	}
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client is gone
}
