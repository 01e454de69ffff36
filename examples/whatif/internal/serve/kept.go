package serve

import (
	"sync"
	"time"
)

// Answers are kept while the cluster is the same, so long after they are there, and so many. One that took long is kept for ten
// times as long.
const (
	keptFor  = 5 * time.Second
	keptMost = time.Minute
	maxKept  = 4096
	maxTaken = 64 << 10 // bytes of a question that is kept
)

// answered is the answer to a question, once done is closed.
type answered struct {
	value any
	err   error
	done  chan struct{}
	until time.Time
}

// kept are answers to questions about one cluster. The zero value is empty.
type kept struct {
	mu      sync.Mutex
	about   *Cluster
	answers map[string]*answered
}

// find returns the answer to a question, which may still be on its way; mine: the caller is to answer it. One that failed is
// asked again.
func (k *kept) find(about *Cluster, key string, now time.Time) (one *answered, mine bool) {
	fresh := &answered{done: make(chan struct{})}
	if len(key) > maxTaken {
		return fresh, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.about != about || len(k.answers) >= maxKept {
		k.about, k.answers = about, map[string]*answered{}
	}
	if one = k.answers[key]; one != nil && !one.over(now) {
		return one, false
	}
	k.answers[key] = fresh
	return fresh, true
}

// end says that the answer is there, at an instant, and how long it took.
func (a *answered) end(now time.Time, took time.Duration) {
	a.until = now.Add(min(max(keptFor, 10*took), keptMost))
	close(a.done)
}

// over reports whether an answer is not to be given again.
func (a *answered) over(now time.Time) bool {
	select {
	case <-a.done:
		return a.err != nil || now.After(a.until)
	default:
		return false // it is on its way
	}
}
