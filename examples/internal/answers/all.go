package answers

import (
	"context"
	"fmt"
	"runtime"
	"strings"
)

// MaxSteps is how many workloads the decisions about all that waits may look at together, so that they take some
// seconds. In a cluster without room a decision looks at most of what runs, several times; a decision that a sum
// refuses looks at none.
const MaxSteps = 5_000_000

// ShortenAll is [Cluster.Shorten] of a list that is sorted by queue, as [Cluster.Waiting] is. Workloads of one shape
// are decided about once. The decisions look at no more than so many workloads together, or a few more; zero is no
// limit. Each queue has an equal part of what the queues before it left, and its first workloads are answered about; the
// answers about its rest are nil. If the context ends, so are all that follow.
//
// tell is told about each workload, in the order of the list, as soon as its answer is known.
func (c *Cluster) ShortenAll(ctx context.Context, list []Waiting, steps int, tell func(i int, s *Short)) ([]*Short, error) {
	a := &all{cluster: c, list: list, limit: steps, answers: make([]*Short, len(list)), first: map[string]int{}, kinds: make([]string, len(list))}
	a.sort()
	for i := range list {
		if ctx.Err() != nil {
			break
		}
		s, err := a.answer(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("workload %s: %w", list[i].Workload.ID, err)
		}
		a.answers[i] = s
		tell(i, s)
	}
	return a.answers, nil
}

// all is a list that is answered about.
type all struct {
	cluster *Cluster
	list    []Waiting
	limit   int // zero: none
	spent   int
	answers []*Short
	kinds   []string       // what the same answer is about
	first   map[string]int // of each kind
	queues  int            // that follow and need a decision

	queue string // that is answered about
	part  int    // of the limit, up to and with this queue

	// Decisions are made ahead, in order; the answers, and where the limit strikes, do not depend on it.
	ahead []*made
	next  int // index in list of what is to be made next
}

// made is a decision that is made ahead.
type made struct {
	at    int // index in list
	short Short
	steps int
	err   error
	done  chan struct{}
}

// sort finds out which workloads share an answer, and counts the queues.
func (a *all) sort() {
	queue := ""
	for i := range a.list {
		w := &a.list[i]
		if !w.decided() {
			continue
		}
		a.kinds[i] = a.cluster.kind(w)
		if _, known := a.first[a.kinds[i]]; !known {
			a.first[a.kinds[i]] = i
		}
		if a.queues == 0 || queue != w.Workload.Queue {
			a.queues, queue = a.queues+1, w.Workload.Queue
		}
	}
}

// kind returns a text that is equal for waiting workloads only if their answers are.
func (c *Cluster) kind(w *Waiting) string {
	shape := c.Preemptor.Shape(c.Snapshot, w.Request)
	if shape == "" {
		return w.Workload.ID
	}
	return fmt.Sprintf("%s\x00%v\x00%s\x00%s\x00%s\x00%v", shape, w.NoStands, strings.Join(w.Doubts, "\x00"), w.IfPreempts, w.Blocked, w.TooLarge)
}

// answer returns the answer about a workload; nil if the limit is reached.
func (a *all) answer(ctx context.Context, i int) (*Short, error) {
	w := &a.list[i]
	if a.kinds[i] == "" {
		s, err := a.cluster.Shorten(w)
		return &s, err
	}
	if at := a.first[a.kinds[i]]; at != i {
		return a.answers[at], nil
	}
	if a.part == 0 || w.Workload.Queue != a.queue {
		a.queue, a.part = w.Workload.Queue, a.spent+max(1, (a.limit-a.spent)/max(1, a.queues))
		a.queues--
	}
	if a.reached(i) {
		return nil, nil
	}
	m := a.take(i)
	select {
	case <-m.done:
	case <-ctx.Done():
		return nil, nil
	}
	a.spent += m.steps
	return &m.short, m.err
}

// reached reports whether the limit keeps a workload from being decided about, as far as is known.
func (a *all) reached(i int) bool {
	return a.limit > 0 && (a.spent >= a.limit || a.list[i].Workload.Queue == a.queue && a.spent >= a.part)
}

// take returns the decision about a workload, and lets those that follow be made.
func (a *all) take(i int) *made {
	for len(a.ahead) > 0 && a.ahead[0].at < i { // the limit kept it from being answered
		a.ahead = a.ahead[1:]
	}
	a.next = max(a.next, i)
	for ; len(a.ahead) < 2*runtime.GOMAXPROCS(0) && a.next < len(a.list); a.next++ {
		if n := a.next; a.kinds[n] != "" && a.first[a.kinds[n]] == n && !a.reached(n) {
			m := &made{at: n, done: make(chan struct{})}
			a.ahead = append(a.ahead, m)
			go m.make(a.cluster, &a.list[n])
		}
	}
	m := a.ahead[0]
	a.ahead = a.ahead[1:]
	return m
}

// make makes the decision, and counts what it costs.
func (m *made) make(c *Cluster, w *Waiting) {
	defer close(m.done)
	m.short, m.steps, m.err = c.shorten(w)
}
