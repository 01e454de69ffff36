package moves

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Fragmentation says in how many pieces the free amount of a resource is, by the measures that schedulers and papers report. Nodes that
// are not schedulable do not count. The zero value is that of a snapshot without nodes.
type Fragmentation struct {
	Resource string `json:"resource"`
	// Capacity is what the nodes have of it, Free what no pod takes.
	Capacity int64 `json:"capacity"`
	Free     int64 `json:"free"`
	// Nodes is the number of nodes, FreeNodes of those without pods, but for pods that stay.
	Nodes     int `json:"nodes"`
	FreeNodes int `json:"freeNodes"`
	// Domains is the number of domains, FreeDomains of those of which all nodes count and are free.
	Domains     int `json:"domains,omitzero"`
	FreeDomains int `json:"freeDomains,omitzero"`
	// Largest is the most that is free on one node. Gang is on how many nodes of one domain as much is free, without domains on how many
	// nodes: a gang of as many pods of that size has room.
	Largest int64 `json:"largest"`
	Gang    int64 `json:"gang"`
	// Waiting is the number of waiting pods that want the resource.
	Waiting int `json:"waiting,omitzero"`
	// Unusable is, of Free, what a waiting pod cannot use, summed over them: divided by Waiting the fragmentation of FGD (Weng et al.,
	// USENIX ATC 2023), which weights what a type of pods cannot use by how often the type comes. Stranded is what none of them can use.
	Unusable int64 `json:"unusable,omitzero"`
	Stranded int64 `json:"stranded,omitzero"`
}

// Measure measures the resource r.Measure by the Domains, Stays and Waiting of a request. A node in no domain counts for
// all but FreeDomains and Gang. It looks once at each pod, and for each waiting pod at each node. It fails as [Clear] about the
// request.
func Measure(s *placement.Snapshot, r ClearRequest) (Fragmentation, error) {
	if err := r.validate(s, nil); err != nil {
		return Fragmentation{}, err
	}
	return measure(s, &r), nil
}

func measure(s *placement.Snapshot, r *ClearRequest) Fragmentation {
	f := Fragmentation{Resource: r.Measure, Domains: len(r.Domains)}
	left, isFree := map[string]workload.Resources{}, map[string]bool{}
	for n := range s.Nodes() {
		if n.Unschedulable {
			continue
		}
		f.Nodes++
		f.Capacity = quota.Add(f.Capacity, n.Capacity[r.Measure])
		used := s.UsedOn(n.Name)
		for resource, amount := range n.Capacity {
			n.Capacity[resource] = max(0, quota.Sub(amount, used[resource]))
		}
		left[n.Name] = n.Capacity
		f.Free = quota.Add(f.Free, n.Capacity[r.Measure])
		f.Largest = max(f.Largest, n.Capacity[r.Measure])
		isFree[n.Name] = true
		for p := range s.PodsOn(n.Name) {
			isFree[n.Name] = isFree[n.Name] && r.Stays != nil && r.Stays(p)
		}
		if isFree[n.Name] {
			f.FreeNodes++
		}
	}
	domains := r.Domains
	if len(domains) == 0 {
		domains = []placement.Domain{{Nodes: slices.Collect(maps.Keys(left))}}
	}
	for _, d := range domains {
		gang, isWhole := int64(0), f.Domains > 0 && len(d.Nodes) > 0
		for _, name := range d.Nodes {
			isWhole = isWhole && isFree[name]
			if f.Largest > 0 && left[name][r.Measure] == f.Largest {
				gang++
			}
		}
		if f.Gang = max(f.Gang, gang); isWhole {
			f.FreeDomains++
		}
	}
	f.measureWaiting(left, r)
	return f
}

// measureWaiting measures what waiting pods cannot use of what is left on each node.
func (f *Fragmentation) measureWaiting(left map[string]workload.Resources, r *ClearRequest) {
	stranded := map[string]int64{}
	for name := range left {
		stranded[name] = left[name][r.Measure]
	}
	for i := range r.Waiting {
		p := &r.Waiting[i]
		if p.Requests[r.Measure] <= 0 {
			continue
		}
		f.Waiting++
		may := map[string]bool{}
		for _, name := range p.Nodes {
			may[name] = true
		}
		for name, left := range left {
			unusable := left[r.Measure]
			if !p.Nowhere && (len(p.Nodes) == 0 || may[name]) {
				unusable -= times(p, left) * p.Requests[r.Measure]
			}
			stranded[name] = min(stranded[name], unusable)
			f.Unusable = quota.Add(f.Unusable, unusable)
		}
	}
	for _, amount := range stranded {
		if f.Waiting > 0 {
			f.Stranded = quota.Add(f.Stranded, amount)
		}
	}
}

// times returns how many pods like this one have room in what is left on a node.
func times(p *workload.Pod, left workload.Resources) int64 {
	n := int64(math.MaxInt64)
	if pods, isBounded := left[workload.PodsResource]; isBounded {
		n = pods
	}
	for resource, amount := range p.Requests {
		if amount > 0 {
			n = min(n, left[resource]/amount)
		}
	}
	return n
}

// measure says how fragmented the resource is before and after, and what is lost of it.
func (a *ClearAnswer) measure(s *placement.Snapshot, r *ClearRequest) error {
	done, err := s.With(a.EditsWhenDone(s)...)
	if err != nil {
		return err
	}
	before, after := measure(s, r), measure(done, r)
	a.Before, a.After, a.TimeLost = &before, &after, timeLost(s, a, r.Measure)
	return nil
}

// timeLost returns what the pods that leave took of a resource, times the seconds since they started.
func timeLost(s *placement.Snapshot, a *ClearAnswer, resource string) (lost int64) {
	add := func(id string) {
		if p, _ := s.Find(id); !p.Started.IsZero() && p.Started.Before(a.Now) {
			lost = quota.Add(lost, quota.Mul(int64(a.Now.Sub(p.Started)/time.Second), p.Requests[resource]))
		}
	}
	for _, v := range a.Victims {
		for _, id := range v.Pods {
			add(id)
		}
	}
	for _, m := range a.Moves {
		for _, p := range m.Pods {
			add(p.Pod)
		}
	}
	return lost
}
