package serve

import (
	"sync"
	"time"
)

// Latest is the cluster as it was read last, for those who ask and those who wait for a change of it. The zero value has none.
type Latest struct {
	mu      sync.Mutex
	cluster *Cluster
	changed chan struct{}
	at      time.Time
	failed  int64
}

// Set replaces the cluster, and wakes who waits for that.
func (l *Latest) Set(c *Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cluster, l.at = c, time.Now()
	if l.changed != nil {
		close(l.changed)
	}
	l.changed = nil
}

// Get returns the cluster.
func (l *Latest) Get() *Cluster {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cluster
}

// Changed returns a channel that is closed at the next Set.
func (l *Latest) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// Fail counts a reading that failed: the cluster is as it was.
func (l *Latest) Fail() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed++
}

// Read returns when the cluster was set last, and how many readings failed.
func (l *Latest) Read() (time.Time, int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at, l.failed
}
