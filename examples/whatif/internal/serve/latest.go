package serve

import "sync"

// Latest is the cluster as it was read last, for those who ask and those who wait for a change of it. The zero value has none.
type Latest struct {
	mu      sync.Mutex
	cluster *Cluster
	changed chan struct{}
}

// Set replaces the cluster, and wakes who waits for that.
func (l *Latest) Set(c *Cluster) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cluster = c
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
