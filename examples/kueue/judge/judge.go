// Package judge answers about a workload as Kueue itself does: it reads the objects of a cluster, as `kubectl get -o
// json` prints them, fills Kueue's own caches with them through Kueue's own controllers, and runs Kueue's own scheduler
// until that has answered. It is Kueue 0.19.2: an object, a gate or a setting means here what it means there.
package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"
)

// Version is the version of Kueue that answers.
const Version = "0.19.2"

// Verdict is an answer in one word.
type Verdict string

const (
	Fits     Verdict = "fits"     // it gets quota now
	Preempts Verdict = "preempts" // the victims are told to stop, and it waits for them
	Waits    Verdict = "waits"    // those that it would preempt are leaving already
	Gated    Verdict = "gated"    // it would preempt, and a closed gate holds it back
	No       Verdict = "no"       // it is considered, and gets nothing
	Held     Verdict = "held"     // it is not considered, or another one stands before it
	Unknown  Verdict = "unknown"  // the objects do not say what the answer depends on
)

// Answer is what Kueue says about a workload.
type Answer struct {
	Workload string   `json:"workload"` // namespace/name
	Verdict  Verdict  `json:"verdict"`
	Victims  []string `json:"victims,omitempty"` // who is told to stop now, by name
	Leaving  []string `json:"leaving,omitempty"` // whom it would preempt as well, and who was told before
	// Flavors are those of the assignment: by pod set and resource.
	Flavors map[string]map[string]string `json:"flavors,omitempty"`
	// Fewer are the pod sets that start with fewer pods than they ask for.
	Fewer   []Fewer `json:"fewer,omitempty"`
	Message string  `json:"message,omitempty"` // Kueue's own words, or why the answer is unknown
}

// Fewer is a pod set that starts with Count pods of those it asks for.
type Fewer struct {
	PodSet string `json:"podSet"`
	Count  int64  `json:"count"`
	Of     int64  `json:"of"`
}

// errPanics: Kueue panics where it is shown the objects.
var errPanics = errors.New("Kueue " + Version + " panics about the objects")

// limit is how long Kueue may take for an answer.
const limit = 30 * time.Second

// alone is held while Kueue runs: its gates are of the process.
var alone sync.Mutex

// Ask asks Kueue about a workload that waits, by namespace/name, as if no other one waited: but for those that stand before
// it in a queue with StrictFIFO. at is the present. The objects are JSON or YAML, one document or several, lists or not. It
// fails if they cannot be read, or if the workload is not there or waits no more.
func Ask(ctx context.Context, objects []byte, id string, at time.Time) (Answer, error) {
	alone.Lock()
	defer alone.Unlock()
	defer resetGates()
	c, err := read(objects)
	if err != nil {
		return Answer{}, err
	}
	w := c.workload(id)
	if len(c.unread) > 0 {
		return Answer{Workload: id, Verdict: Unknown, Message: c.unread[0]}, nil
	}
	switch {
	case w == nil:
		return Answer{}, fmt.Errorf("workload %q is not in the input", id)
	case finish.IsFinished(w):
		return Answer{}, fmt.Errorf("workload %s is finished", id)
	case workload.HasQuotaReservation(w):
		return Answer{}, fmt.Errorf("workload %s holds quota already", id)
	}
	if err := c.configure(); err != nil {
		return Answer{Workload: id, Verdict: Unknown, Message: fmt.Sprintf("Kueue %s does not start with the Configuration: %v", Version, err)}, nil
	}
	if why := c.unknown(w); why != "" {
		return Answer{Workload: id, Verdict: Unknown, Message: why}, nil
	}
	queued := []*kueue.Workload{w}
	if strict := c.strictQueue(w); strict != "" {
		queued = c.waiting(strict)
	}
	e, err := c.run(ctx, queued, w, at)
	switch {
	case errors.Is(err, errPanics):
		return Answer{Workload: id, Verdict: Unknown, Message: err.Error()}, nil
	case err != nil:
		return Answer{}, err
	case e.workload == id && e.before == 0:
		return c.answer(w, e), nil
	case e.workload == id: // those before it are admitted: by itself, from the state as it is
		if e, err = c.run(ctx, []*kueue.Workload{w}, w, at); err != nil {
			return Answer{}, err
		}
		return c.answer(w, e), nil
	}
	return Answer{Workload: id, Verdict: Held, Message: fmt.Sprintf("%s stands before it in ClusterQueue %s, which is StrictFIFO, and waits: %s", e.workload, e.queue, e.message)}, nil
}

// run starts Kueue with the workloads that wait, and ends with what it says about one of them: w, or the first one that
// is not admitted. It fails where Kueue panics about objects: what no API server stores may do that.
func (c *cluster) run(ctx context.Context, waiting []*kueue.Workload, w *kueue.Workload, at time.Time) (_ *evaluation, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanics, p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ear := newEar()
	k, err := c.start(ctx, at)
	if err != nil {
		return nil, err
	}
	for _, one := range waiting {
		if err := k.wait(ctx, one); err != nil {
			return nil, err
		}
	}
	queue, considered := k.considers(w)
	if !considered {
		return &evaluation{workload: string(workload.Key(w)), held: true, message: k.whyHeld(ctx, w)}, nil
	}
	k.schedule(ctrl.LoggerInto(ctx, logr.New(ear)))
	for before := 0; ; before++ {
		select {
		case e := <-ear.evaluations:
			if e.workload != string(workload.Key(w)) && e.admitted {
				continue
			}
			e.before, e.queue = before, string(queue)
			return e, nil
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("Kueue has no answer about %s", workload.Key(w)), ctx.Err())
		}
	}
}

// answer puts what Kueue said about a workload into words.
func (c *cluster) answer(w *kueue.Workload, e *evaluation) Answer {
	a := Answer{Workload: e.workload, Message: e.message}
	switch {
	case e.held:
		a.Verdict = Held
		return a
	case e.admitted:
		a.Verdict = Fits
	case len(e.targets) == 0, e.skipped:
		a.Verdict = No
		return a
	default:
		for _, id := range e.targets {
			if v := c.workload(id); v != nil && leaving(v) {
				a.Leaving = append(a.Leaving, id)
			} else {
				a.Victims = append(a.Victims, id)
			}
		}
		slices.Sort(a.Leaving)
		slices.Sort(a.Victims)
		switch {
		case e.gated:
			a.Verdict = Gated
		case len(a.Victims) == 0:
			a.Verdict = Waits
		default:
			a.Verdict = Preempts
		}
	}
	a.Flavors = map[string]map[string]string{}
	for i := range e.assignment.PodSets {
		p := &e.assignment.PodSets[i]
		a.Flavors[string(p.Name)] = map[string]string{}
		for resource, f := range p.Flavors {
			a.Flavors[string(p.Name)][string(resource)] = string(f.Name)
		}
		if at := slices.IndexFunc(w.Spec.PodSets, func(o kueue.PodSet) bool { return o.Name == p.Name }); at >= 0 && p.Count < w.Spec.PodSets[at].Count {
			a.Fewer = append(a.Fewer, Fewer{string(p.Name), int64(p.Count), int64(w.Spec.PodSets[at].Count)})
		}
	}
	return a
}

// Waiting are the workloads of an input that wait, by namespace/name.
func Waiting(objects []byte) (ids []string, err error) {
	c, err := read(objects)
	if err != nil {
		return nil, err
	}
	for _, w := range c.workloads {
		if !finish.IsFinished(w) && !workload.HasQuotaReservation(w) {
			ids = append(ids, string(workload.Key(w)))
		}
	}
	slices.Sort(ids)
	return ids, nil
}
