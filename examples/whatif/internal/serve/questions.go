package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
)

// Question is the body of decide and of explain.
type Question struct {
	about
	// Request is the question. Without a time it is about now.
	Request *preemption.Request `json:"request"`
}

// Answer is the answer of decide, and one of the answers of simulate.
type Answer struct {
	// Answer is the decision in words: the end of a sentence that begins with the workload.
	Answer   string              `json:"answer"`
	Decision preemption.Decision `json:"decision"`
	// Notes say what the cluster leaves out; none for a state that came with the question.
	Notes []string `json:"notes,omitempty"`
}

// Explained is the answer of explain.
type Explained struct {
	Answer
	Explanation explain.Explanation `json:"explanation"`
	// Text is the explanation as a page of 80 columns.
	Text string `json:"text"`
}

// Simulation is the body of simulate: changes, and questions about the cluster after them.
type Simulation struct {
	about
	Edits    []Edit               `json:"edits"`
	Requests []preemption.Request `json:"requests"`
}

// Simulated is the answer of simulate.
type Simulated struct {
	// Answers are about the requests, each by itself.
	Answers []Answer `json:"answers"`
}

func (s *server) decide(_ context.Context, q *Question) (any, error) {
	a, _, _, err := s.decided(q)
	return a, err
}

// decided decides about the request of a question; on and by are what it was decided on and by.
func (s *server) decided(q *Question) (a Answer, on *preemption.Snapshot, by *preemption.Preemptor, err error) {
	on, by, notes, err := s.question(&q.about)
	switch {
	case err != nil:
		return a, nil, nil, err
	case q.Request == nil:
		return a, nil, nil, preemption.Faults{{Path: "request", Problem: "is missing"}}
	case q.Request.Now.IsZero():
		q.Request.Now = s.Now()
	}
	a, err = s.answer(by, on, *q.Request, notes)
	return a, on, by, err
}

// answer decides.
func (s *server) answer(p *preemption.Preemptor, on *preemption.Snapshot, r preemption.Request, notes []string) (Answer, error) {
	if r.Now.IsZero() {
		r.Now = s.Now()
	}
	d, err := p.Decide(on, r)
	if err != nil {
		return Answer{}, err
	}
	return Answer{explain.Answer(&d, &r), d, notes}, nil
}

func (s *server) explain(_ context.Context, q *Question) (any, error) {
	a, on, by, err := s.decided(q)
	if err != nil {
		return nil, err
	}
	e, err := explain.Explain(by, on, *q.Request)
	if err != nil {
		return nil, err
	}
	return Explained{a, e, explain.Text(e.Steps)}, nil
}

func (s *server) simulate(ctx context.Context, q *Simulation) (any, error) {
	snapshot, p, notes, err := s.question(&q.about)
	if err != nil {
		return nil, err
	}
	var edits []preemption.Edit
	var faults preemption.Faults
	for i := range q.Edits {
		edit, problem := q.Edits[i].edit()
		if edits = append(edits, edit); problem != "" {
			faults.Add(fmt.Sprintf("edits[%d]", i), "%s", problem)
		}
	}
	if len(q.Requests) == 0 {
		faults.Add("requests", "is empty")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	if snapshot, err = snapshot.With(edits...); err != nil {
		return nil, err
	}
	out := Simulated{Answers: []Answer{}}
	for i, r := range q.Requests {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		a, err := s.answer(p, snapshot, r, notes)
		if err != nil {
			faults = append(faults, numbered(i, err)...)
		}
		out.Answers = append(out.Answers, a)
	}
	return out, faults.Err()
}

// numbered puts the faults of one of several requests under its path.
func numbered(i int, err error) (out preemption.Faults) {
	path := fmt.Sprintf("requests[%d]", i)
	var list preemption.Faults
	if !errors.As(err, &list) {
		return preemption.Faults{{Path: path, Problem: err.Error()}}
	}
	for _, f := range list {
		out.Add(joined(path, strings.TrimPrefix(strings.TrimPrefix(f.Path, "request"), ".")), "%s", f.Problem)
	}
	return out
}
