package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	a, _, err := s.decided(q)
	return a, err
}

// decided decides about the request of a question; by is what it was decided by, and q then has the request as it was asked.
func (s *server) decided(q *Question) (a Answer, by asked, err error) {
	by, err = s.question(&q.about)
	switch {
	case err != nil:
		return a, by, err
	case q.Request == nil:
		return a, by, preemption.Faults{{Path: "request", Problem: "is missing"}}
	}
	a, err = s.answer(&by, q.Request)
	return a, by, err
}

// answer decides, and completes the request.
func (s *server) answer(by *asked, r *preemption.Request) (a Answer, err error) {
	if r.Now.IsZero() {
		r.Now = s.Now()
	}
	a.Notes = by.notes
	if by.asking != nil {
		var more []string
		if by.on, *r, more, err = by.asking(by.on, *r); err != nil {
			return a, err
		}
		a.Notes = append(slices.Clip(a.Notes), more...)
	}
	if a.Decision, err = by.by.Decide(by.on, *r); err != nil {
		return Answer{}, err
	}
	a.Answer = explain.Answer(&a.Decision, r)
	return a, nil
}

func (s *server) explain(_ context.Context, q *Question) (any, error) {
	a, by, err := s.decided(q)
	if err != nil {
		return nil, err
	}
	e, err := explain.Explain(by.by, by.on, *q.Request)
	if err != nil {
		return nil, err
	}
	return Explained{a, e, explain.Text(e.Steps)}, nil
}

func (s *server) simulate(ctx context.Context, q *Simulation) (any, error) {
	by, err := s.question(&q.about)
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
	if by.on, err = by.on.With(edits...); err != nil {
		return nil, err
	}
	out := Simulated{Answers: []Answer{}}
	for i := range q.Requests {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		one := by
		a, err := s.answer(&one, &q.Requests[i])
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
