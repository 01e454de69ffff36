package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/preemption"
)

// Fault is something wrong with a body. Path is empty if it is the body as a whole.
type Fault struct {
	Path    string `json:"path"`
	Problem string `json:"problem"`
}

// Failure is the answer to a question that cannot be answered.
type Failure struct {
	Error  string  `json:"error"`
	Faults []Fault `json:"faults,omitempty"`
}

// about is what a question is about.
type about struct {
	// State is the cluster; absent: that which the program has read.
	State *preemption.State `json:"state"`
	// Sharing is Classical or Fair; absent: that of the cluster, Classical of a state.
	Sharing *preemption.Sharing `json:"sharing"`
	// RulesAlone makes rules take the place of policies.
	RulesAlone bool `json:"rulesAlone"`
}

// read reads a body, and returns it. Amounts may be quantities as text, as in objects of Kubernetes.
func (s *server) read(w http.ResponseWriter, r *http.Request, into any) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.MaxBody))
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, badBody{errors.New("the body is empty: want an object")}
	}
	plain, err := inUnits(data)
	if err == nil {
		err = input.DecodeStrict(plain, into)
	}
	if err != nil {
		return nil, badBody{err}
	}
	return data, nil
}

// badBody is a body that cannot be read.
type badBody struct{ error }

func (b badBody) Unwrap() error { return b.error }

// asked is what decides.
type asked struct {
	on     *preemption.Snapshot
	by     *preemption.Preemptor
	notes  []string
	asking Asking
}

// question returns what decides.
func (s *server) question(of *about) (a asked, err error) {
	c := s.Cluster()
	config := c.Config
	a.on, a.notes, a.asking = c.Snapshot, c.Notes, c.Asking
	if of.State != nil {
		if a.on, err = preemption.NewSnapshot(*of.State); err != nil {
			return a, under("state", err)
		}
		config, a.notes, a.asking = preemption.Config{MaxBlockers: config.MaxBlockers}, nil, nil
	}
	if of.Sharing != nil && *of.Sharing != config.Sharing {
		config.Sharing, config.Strategies = *of.Sharing, nil
	}
	config.Compat.RulesAlone = config.Compat.RulesAlone || of.RulesAlone
	a.by, err = preemption.New(config)
	return a, err
}

// under puts faults of a part under the path of the part.
func under(path string, err error) error {
	var list preemption.Faults
	if !errors.As(err, &list) {
		return fmt.Errorf("%s: %w", path, err)
	}
	var out preemption.Faults
	for _, f := range list {
		out.Add(joined(path, f.Path), "%s", f.Problem)
	}
	return out
}

func joined(path, below string) string {
	switch {
	case below == "":
		return path
	case below[0] == '[':
		return path + below
	}
	return path + "." + below
}

// statusOf is the status of an answer.
func statusOf(err error) int {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.Is(err, ErrNotThere):
		return http.StatusNotFound
	case errors.Is(err, ErrRuns):
		return http.StatusConflict
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, errTooMany):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// failure says what is wrong.
func failure(err error) Failure {
	var list preemption.Faults
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &list):
		out := Failure{Error: fmt.Sprintf("%d of the values are wrong, the first at %s", len(list), list[0].Path)}
		for _, f := range list {
			out.Faults = append(out.Faults, Fault{f.Path, f.Problem})
		}
		return out
	case errors.As(err, &tooLarge):
		return Failure{Error: fmt.Sprintf("the body has more than %d bytes", tooLarge.Limit)}
	case errors.Is(err, context.DeadlineExceeded):
		return Failure{Error: "the time for an answer is over"}
	}
	return Failure{Error: err.Error()}
}
