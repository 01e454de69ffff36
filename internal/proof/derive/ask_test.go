package derive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/internal/proof/agree"
	"github.com/cedesched/cede/preemption"
)

// ask prints how the decision about a request came about, and the decision.
func (w *world) ask(l *line) (string, error) {
	domains := l.domains()
	if len(domains) > 0 && len(w.nodes.Nodes) == 0 {
		l.fail("domains without nodes")
	}
	r := l.request()
	if l.err != nil {
		return "", l.err
	}
	if err := w.addRoom(&r, domains); err != nil {
		return faults(err), nil
	}
	p, err := preemption.New(w.config)
	if err != nil {
		return faults(err), nil
	}
	s, err := preemption.NewSnapshot(w.state)
	if err != nil {
		return faults(err), nil
	}
	d, steps, err := explained(p, s, r, w.config.Sharing != preemption.Classical)
	if err != nil {
		return faults(err), nil
	}
	return steps + decision(d) + disagreements(form(d), w.routes(p, s, r, d)), nil
}

// routes asks the same question by other routes.
func (w *world) routes(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request, d preemption.Decision) []route {
	reversed := moved(w.state, 0)
	slices.Reverse(reversed.Cohorts)
	slices.Reverse(reversed.Queues)
	slices.Reverse(reversed.Flavors)
	slices.Reverse(reversed.Admitted)
	slices.Reverse(reversed.Rules)
	backwards, err1 := preemption.NewSnapshot(reversed)
	edited, err2 := w.edited()
	record, err3 := again(preemption.Record{State: s.State(), Request: &r})
	read, err4 := preemption.NewSnapshot(record.State)
	if err3 != nil {
		err4, record.Request = err3, &r
	}
	record.Request.Room = r.Room // it has no JSON form, and is left as it was by each decision
	return []route{
		{"without an explanation", decided(p.Decide, s, nil, r)},
		{"the witness", w.witness(r, d)},
		{"the state the other way round", decided(p.Decide, backwards, err1, r)},
		{"a snapshot made by edits", decided(p.Decide, edited, err2, r)},
		{"state and request through JSON", decided(p.Decide, read, err4, *record.Request)},
		{"the decision through JSON", w.throughJSON(p, s, r)},
		{"shifted time", shifted(preemption.NewSnapshot, p.Decide, w.state, r)},
	}
}

// witness returns the decision, or in what the witness differs.
func (w *world) witness(r preemption.Request, d preemption.Decision) string {
	if _, diff := agree.Diff(w.config, w.state, r, d); diff != "" {
		return diff
	}
	return form(d)
}

// edited returns the snapshot made from the empty one by edits.
func (w *world) edited() (*preemption.Snapshot, error) {
	s, err := preemption.NewSnapshot(preemption.State{})
	if err == nil {
		s, _, err = s.Sync(w.state)
	}
	return s, err
}

func (w *world) throughJSON(p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request) string {
	d, err := p.Decide(s, r)
	if err == nil {
		d, err = again(d)
	}
	if err != nil {
		return err.Error() + "\n"
	}
	return form(d)
}

// check prints whether state and configuration are valid.
func (w *world) check(l *line) (string, error) {
	if err := l.end(false); err != nil {
		return "", err
	}
	_, err := preemption.New(w.config)
	if err == nil {
		_, err = preemption.NewSnapshot(w.state)
	}
	if err == nil {
		return "valid\n", nil
	}
	return faults(err), nil
}

func faults(err error) string {
	list := strings.Split(err.Error(), "; ")
	return fmt.Sprintf("invalid\n  %s\n", strings.Join(list, "\n  "))
}
