package nodes

import (
	"hash/maphash"
	"maps"

	"github.com/cedesched/cede/workload"
)

// shared finds the pods with equal requests, and those with equal requests, labels and
// namespace. Pods come by the thousand from one template: what follows from these fields is
// copied and computed once.
type shared struct {
	requests map[uint64]*equalRequests // by hash
	pods     map[uint64]*alike
	last     *alike // of the pod before: the next one often has the same requests and namespace
}

// equalRequests is what pods with equal requests share.
type equalRequests struct {
	requests workload.Resources // a copy
	names    []string           // its keys
	hash     uint64
	takes    []amount       // nil: not known yet
	next     *equalRequests // with the same hash
}

// alike is what pods of one template share.
type alike struct {
	*equalRequests
	namespace string
	home      uint64            // hash of the namespace
	labels    map[string]string // a copy
	keys      []string          // its keys
	budgets   []int32           // the budgets that cover the pods
	settled   bool              // takes and budgets are known
	next      *alike            // with the same hash
}

// seed differs from run to run, so that nobody can prepare labels that collide. No answer
// depends on it.
var seed = maphash.MakeSeed()

// mix is a hash of two hashes.
func mix(a, b uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // the golden ratio
	h := (a ^ b*odd) * odd
	return h ^ h>>29
}

// of returns what a pod shares with others.
func (s *shared) of(p *workload.Pod) *alike {
	if s.pods == nil {
		s.requests, s.pods = map[uint64]*equalRequests{}, map[uint64]*alike{}
	}
	requested, home := s.hashes(p)
	hash := mix(requested, home)
	for key, value := range p.Labels {
		hash += mix(maphash.String(seed, key), maphash.String(seed, value))
	}
	first := s.pods[hash]
	for a := first; a != nil; a = a.next {
		if a.namespace == p.Namespace && same(a.labels, p.Labels, a.keys) && same(a.requests, p.Requests, a.names) {
			s.last = a
			return a
		}
	}
	a := &alike{equalRequests: s.equal(requested, p.Requests), namespace: p.Namespace, home: home, labels: maps.Clone(p.Labels), keys: keysOf(p.Labels), next: first}
	s.pods[hash], s.last = a, a
	return a
}

// hashes returns the hashes of what a pod requests and of its namespace.
func (s *shared) hashes(p *workload.Pod) (requested, home uint64) {
	if last := s.last; last != nil && last.namespace == p.Namespace && same(last.requests, p.Requests, last.names) {
		return last.hash, last.home
	}
	for name, value := range p.Requests { // a sum, for maps have no order
		requested += mix(maphash.String(seed, name), uint64(value))
	}
	return requested, maphash.String(seed, p.Namespace)
}

func (s *shared) equal(hash uint64, r workload.Resources) *equalRequests {
	first := s.requests[hash]
	for e := first; e != nil; e = e.next {
		if same(e.requests, r, e.names) {
			return e
		}
	}
	e := &equalRequests{requests: maps.Clone(r), names: keysOf(r), hash: hash, next: first}
	s.requests[hash] = e
	return e
}

// same reports whether two maps are equal, of which one has those keys; nil is not the empty
// map. Looking up a few keys is faster than walking a map.
func same[M ~map[string]V, V comparable](a, b M, keys []string) bool {
	return len(a) == len(b) && (a == nil) == (b == nil) && holds(a, b, keys)
}

// holds reports whether b has the same value as a for each of the keys.
func holds[M ~map[string]V, V comparable](a, b M, keys []string) bool {
	for _, key := range keys {
		if value, ok := b[key]; !ok || value != a[key] {
			return false
		}
	}
	return true
}

func keysOf[M ~map[string]V, V any](m M) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// settle computes what follows from the fields, for the first of the pods.
func (a *alike) settle(c *Cluster, p *workload.Pod) {
	if a.settled {
		return
	}
	if a.settled = true; a.takes == nil {
		a.takes = c.columns.takes(nil, a.requests)
	}
	a.budgets = c.covering(nil, p)
}
