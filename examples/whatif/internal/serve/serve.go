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
	"strconv"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// Cluster is what questions without a state of their own are about.
type Cluster struct {
	Snapshot *preemption.Snapshot
	Config   preemption.Config
	// Notes say what the snapshot leaves out of the cluster.
	Notes []string
	// Asking is how a request is asked where more than the snapshot decides. Nil: nothing does. It is called by several goroutines.
	Asking Asking
	// Why answers for a workload of the cluster, by its ID. The error is [ErrNotThere] if there is none of that name.
	// It is [ErrRuns] if that one holds quota already.
	Why func(id string) (Why, error)
	// List answers about all that waits, in the order of the queues. Answers that were not looked at, for there are too many, are
	// left out; More says how many.
	List func(ctx context.Context) (List, error)
	// Doubts counts, by field or object, what is not known and answers depend on. Nil: it is not known.
	Doubts func() map[string]int
	Verbs  Verbs
}

// Asking returns what a request about the cluster, or about one that edits made of it, is decided on, the request with its room on nodes, and
// notes on it.
type Asking func(*preemption.Snapshot, preemption.Request) (*preemption.Snapshot, preemption.Request, []string, error)

// Waits is a workload that waits, with the answer about it in a few words.
type Waits struct {
	Workload string    `json:"workload"`
	Queue    string    `json:"queue"`
	Position int       `json:"position,omitempty"` // in its queue, from 1; absent: it has none
	Priority int64     `json:"priority"`           // effective
	Queued   time.Time `json:"queued,omitzero"`
	answers.Short
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

	errNotAnswered = errors.New("this server does not answer that")
)

// Options configure a handler.
type Options struct {
	// Cluster returns the cluster as it was read last. It must not be nil.
	Cluster func() *Cluster
	// Fleet answers about a manager of MultiKueue and its workers, which come with the question. Nil: it is not asked. The error
	// is [ErrNotThere] if the manager has not sent out the workload.
	Fleet func(*Fleet) (workers.Answers, error)
	// Changed returns a channel that is closed once Cluster returns another one. Nil: changes are looked for every minute.
	Changed func() <-chan struct{}
	// Read returns when the cluster was read last, and how often that failed since the program runs. Nil: it is not known.
	Read func() (time.Time, int64)
	// Ends is closed when the server ends: then streams do. Nil: they end with their clients.
	Ends <-chan struct{}
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
	slots   chan struct{}
	kept    kept
	feed    feed
	process string // another one each time that the program runs
	serials serials
	counted *counted
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
	s := &server{Options: o, slots: make(chan struct{}, o.AtOnce), process: strconv.FormatInt(time.Now().UnixNano(), 36), counted: newCounted()}
	s.feed.count = func(kind string) { s.counted.changes.WithLabelValues(kind).Inc() }
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/decide", question(s, (*server).decide))
	mux.HandleFunc("POST /v1/explain", question(s, (*server).explain))
	mux.HandleFunc("POST /v1/simulate", question(s, (*server).simulate))
	mux.HandleFunc("POST /v1/multikueue", question(s, (*server).multikueue))
	mux.HandleFunc("GET "+listPath, s.list)
	mux.HandleFunc("GET /v1/changes", s.changes)
	mux.HandleFunc("GET /v1/ask", verb(s, func(v *Verbs) func(context.Context, *AskAsked) (any, error) { return v.Ask }))
	mux.HandleFunc("GET /v1/next", verb(s, func(v *Verbs) func(context.Context, *NextAsked) (any, error) { return v.Next }))
	mux.HandleFunc("GET /v1/lint", verb(s, func(v *Verbs) func(context.Context, *LintAsked) (any, error) { return v.Lint }))
	mux.HandleFunc("GET /v1/diff", verb(s, func(v *Verbs) func(context.Context, *DiffAsked) (any, error) { return v.Diff }))
	mux.HandleFunc("GET /v1/safe", verb(s, func(v *Verbs) func(context.Context, *SafeAsked) (any, error) { return v.Safe }))
	mux.HandleFunc("GET /v1/settle", verb(s, func(v *Verbs) func(context.Context, *SettleAsked) (any, error) { return v.Settle }))
	mux.HandleFunc("GET /v1/drain", verb(s, func(v *Verbs) func(context.Context, *DrainAsked) (any, error) { return v.Drain }))
	mux.HandleFunc("GET /v1/workloads/{namespace}/{name}/why", s.why)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(Description)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		s.write(w, r, map[string]string{"paths": "/openapi.json", "waits": listPath, "why": "/v1/workloads/NAMESPACE/NAME/why", "page": "whatif page serves a page for the browser"}, nil)
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	return inJSON(mux)
}

// question handles questions with a body of type B. The body is read before the question has its turn: a slow client keeps
// nobody waiting.
func question[B any](s *server, answer func(*server, context.Context, *B) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := new(B)
		data, err := s.read(w, r, body)
		if err != nil {
			s.write(w, r, nil, err)
			return
		}
		s.in(w, r, r.URL.Path+"\n"+string(data), func(ctx context.Context) (any, error) { return answer(s, ctx, body) })
	}
}

func (s *server) why(w http.ResponseWriter, r *http.Request) {
	s.in(w, r, r.URL.Path, func(context.Context) (any, error) {
		return s.Cluster().Why(r.PathValue("namespace") + "/" + r.PathValue("name"))
	})
}

// in writes the answer to a question.
func (s *server) in(w http.ResponseWriter, r *http.Request, key string, answer func(context.Context) (any, error)) {
	value, err := s.answered(r.Context(), questionOf(r), key, answer)
	s.write(w, r, value, err)
}

// answered answers when it is the turn of the question, within the time that it has. The same question is answered once while the
// cluster is the same, for some seconds.
func (s *server) answered(ctx context.Context, question, key string, answer func(context.Context) (any, error)) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	one, mine := s.kept.find(s.Cluster(), key, time.Now())
	if mine {
		go s.work(one, question, answer)
	}
	select {
	case <-one.done:
		return one.value, one.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// work answers a question once it has its turn. Whoever asks it, it is answered for all who ask it by then.
func (s *server) work(one *answered, question string, answer func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
	defer cancel()
	began := time.Now()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		began = time.Now()
		one.value, one.err = answer(ctx)
		s.took(question, time.Since(began))
	case <-ctx.Done():
		one.err = ctx.Err()
	}
	now := time.Now()
	one.end(now, now.Sub(began))
}

// write writes an answer, or what is wrong.
func (s *server) write(w http.ResponseWriter, r *http.Request, value any, err error) {
	s.count(questionOf(r), value, err)
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
