package state

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/cedesched/cede/workload"
)

// shared finds pods with equal requests, and pods with equal requests, labels and namespace. Thousands of pods come
// from one template: what follows from these fields is copied and computed once.
type shared struct {
	requests map[uint64]*equalRequests // by hash
	pods     map[uint64]*alike
	last     *equalRequests // the last result: the next pod often has the same requests
	keys     []labelKey     // of the last labels: the next pod often has the same keys
	lists    map[uint64][][]string
	names    []string // the last list
}

// equalRequests is what pods with equal requests share.
type equalRequests struct {
	requests workload.Resources // a copy
	amounts  entries[int64]     // the same, as a list
	hash     uint64
	takes    []Amount       // nil: not known yet
	next     *equalRequests // with the same hash
}

// alike is what pods of one template share.
type alike struct {
	*equalRequests
	namespace string
	labels    map[string]string // a copy
	marks     entries[string]   // the same, as a list
	budgets   []int32           // the budgets that cover the pods
	settled   bool              // takes and budgets are known
	next      *alike            // with the same hash
}

// seed differs from run to run, so that labels can not be prepared to collide. No answer depends on it.
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
		s.pods = map[uint64]*alike{}
	}
	requested := s.equal(p.Requests)
	hash := mix(requested.hash, maphash.String(seed, p.Namespace)) + s.hash(p.Labels)
	first := s.pods[hash]
	for a := first; a != nil; a = a.next {
		if a.equalRequests == requested && a.namespace == p.Namespace && same(a.labels, p.Labels, &a.marks) {
			return a
		}
	}
	a := &alike{
		equalRequests: requested, namespace: p.Namespace, labels: maps.Clone(p.Labels), marks: entriesOf(p.Labels), next: first,
	}
	s.pods[hash] = a
	return a
}

// labelKey is a key of labels with its hash.
type labelKey struct {
	name string
	hash uint64
}

// hash returns a hash of labels. It is a sum, because maps have no order.
func (s *shared) hash(labels map[string]string) (sum uint64) {
	if len(labels) == 0 {
		return 0
	}
	known := len(labels) == len(s.keys)
	for i := 0; known && i < len(s.keys); i++ { // to look keys up is faster than to walk the map
		value, ok := labels[s.keys[i].name]
		sum, known = sum+mix(s.keys[i].hash, maphash.String(seed, value)), ok
	}
	if known {
		return sum
	}
	s.keys, sum = s.keys[:0], 0
	for key, value := range labels {
		s.keys = append(s.keys, labelKey{key, maphash.String(seed, key)})
		sum += mix(s.keys[len(s.keys)-1].hash, maphash.String(seed, value))
	}
	return sum
}

// equal returns what pods with the same requests share. Capacities of nodes are shared in the same way.
func (s *shared) equal(r workload.Resources) *equalRequests {
	if s.last != nil && same(s.last.requests, r, &s.last.amounts) {
		return s.last
	}
	if s.requests == nil {
		s.requests = map[uint64]*equalRequests{}
	}
	hash := uint64(0)
	for name, value := range r {
		hash += mix(maphash.String(seed, name), uint64(value))
	}
	first := s.requests[hash]
	for e := first; e != nil; e = e.next {
		if same(e.requests, r, &e.amounts) {
			s.last = e
			return e
		}
	}
	s.last = &equalRequests{requests: maps.Clone(r), amounts: entriesOf(r), hash: hash, next: first}
	s.requests[hash] = s.last
	return s.last
}

// Pods copies pods. Equal lists of the nodes where pods may run are copied once.
type Pods struct{ shared shared }

// Copy returns a copy of a pod.
func (c *Pods) Copy(p *workload.Pod) workload.Pod {
	out := *p
	out.Nodes = nil
	out = out.Clone()
	out.Nodes = c.shared.list(p.Nodes)
	return out
}

// list returns a copy of a list of names, the same one for equal lists.
func (s *shared) list(names []string) []string {
	if len(names) == 0 {
		return slices.Clone(names)
	}
	if slices.Equal(s.names, names) {
		return s.names
	}
	if s.lists == nil {
		s.lists = map[uint64][][]string{}
	}
	var hash uint64
	for _, name := range names {
		hash = mix(hash, maphash.String(seed, name))
	}
	at := slices.IndexFunc(s.lists[hash], func(list []string) bool { return slices.Equal(list, names) })
	if at < 0 {
		at = len(s.lists[hash])
		s.lists[hash] = append(s.lists[hash], slices.Clone(names))
	}
	s.names = s.lists[hash][at]
	return s.names
}

// entries lists the entries of a map. To look them up in another map is faster than to walk either map.
type entries[V comparable] []entry[V]

type entry[V comparable] struct {
	key   string
	value V
}

func entriesOf[M ~map[string]V, V comparable](m M) entries[V] {
	list := make(entries[V], 0, len(m))
	for key, value := range m {
		list = append(list, entry[V]{key, value})
	}
	return list
}

// equal reports whether a map has these entries and no others.
func (e *entries[V]) equal(m map[string]V) bool {
	if len(*e) != len(m) {
		return false
	}
	for i := range *e {
		if value, ok := m[(*e)[i].key]; !ok || value != (*e)[i].value {
			return false
		}
	}
	return true
}

// same reports whether two maps are equal. The first one has the entries of the list. A nil map is not equal to an
// empty one.
func same[M ~map[string]V, V comparable](a, b M, of *entries[V]) bool {
	return (a == nil) == (b == nil) && of.equal(b)
}
