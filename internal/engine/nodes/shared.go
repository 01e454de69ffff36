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
}

// equalRequests is what pods with equal requests share.
type equalRequests struct {
	requests workload.Resources // a copy
	names    []string           // its keys
	takes    []amount           // nil: not known yet
	next     *equalRequests     // with the same hash
}

// alike is what pods of one template share.
type alike struct {
	*equalRequests
	namespace string
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
	var requested uint64 // sums, for maps have no order
	for name, value := range p.Requests {
		requested += mix(maphash.String(seed, name), uint64(value))
	}
	hash := mix(requested, maphash.String(seed, p.Namespace))
	for key, value := range p.Labels {
		hash += mix(maphash.String(seed, key), maphash.String(seed, value))
	}
	first := s.pods[hash]
	for a := first; a != nil; a = a.next {
		if a.namespace == p.Namespace && same(a.labels, p.Labels, a.keys) && same(a.requests, p.Requests, a.names) {
			return a
		}
	}
	a := &alike{equalRequests: s.equal(requested, p.Requests), namespace: p.Namespace, labels: maps.Clone(p.Labels), keys: keysOf(p.Labels), next: first}
	s.pods[hash] = a
	return a
}

func (s *shared) equal(hash uint64, r workload.Resources) *equalRequests {
	first := s.requests[hash]
	for e := first; e != nil; e = e.next {
		if same(e.requests, r, e.names) {
			return e
		}
	}
	e := &equalRequests{requests: maps.Clone(r), names: keysOf(r), next: first}
	s.requests[hash] = e
	return e
}

// same reports whether two maps are equal, of which one has those keys; nil is not the empty
// map. Looking up a few keys is faster than walking a map.
func same[M ~map[string]V, V comparable](a, b M, keys []string) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
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
