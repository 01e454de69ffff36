package moves_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// The bound is what the cheapest domains cost at least: by pods that do not terminate, and by the least price of each unit, of which
// each of its domains has a part. Domains that may cost more than the best are not tried.
func TestClearLowerBound(t *testing.T) {
	prices := map[string][2]int64{"p": {4, -1}, "g": {5, 3}, "q": {-1, 2}, "z": {-1, -1}, "t": {9, 9}}
	config := moves.Config{Price: func(u placement.Unit) (yield, move int64) { return prices[u.ID()][0], prices[u.ID()][1] }}
	tried := func(n int, c moves.Config) moves.Config {
		c.MaxTries = n
		return c
	}
	const priced = "a=4 b=4 c=4 d=4 e=8 a:p=1 a:g0/g=1 b:g1/g=1 c:q=1 d:z=1 e:t=1"
	for name, c := range map[string]struct {
		state  string
		count  int
		config moves.Config
		bound  moves.Cost
		tried  int
		want   preemption.Outcome
	}{
		"by pods":           {"a=4 b=4 c=9 a:v=1 a:u=1 b:w=1 c:x=1 c:y=1 c:z=1", 2, moves.Config{}, moves.Cost{Pods: 3}, 2, preemption.Preempt},
		"one that leaves":   {"a=4 b=4 c=9 a:t=1 a:u=1 b:w=1 c:x=1 c:y=1 c:z=1", 2, moves.Config{}, moves.Cost{Pods: 2}, 2, preemption.Preempt},
		"z keeps d":         {priced, 1, config, moves.Cost{Lost: 0, Pods: 0}, 1, preemption.Fits},
		"then by prices":    {priced, 2, config, moves.Cost{Lost: 0, Pods: 1}, 4, preemption.Preempt},
		"and what they add": {priced, 4, config, moves.Cost{Lost: 3, Pods: 3}, 8, preemption.Preempt},
		"few tries":         {priced, 2, tried(1, config), moves.Cost{}, 2, preemption.Impossible},
	} {
		st := cluster(c.state)
		for i := range st.Pods {
			st.Pods[i].Terminating = st.Pods[i].ID == "t"
		}
		a, err := moves.Clear(nil, snapshot(t, st), moves.ClearRequest{Now: now, Count: c.count}, c.config)
		if err != nil || a.Outcome != c.want || a.LowerBound != c.bound || a.Tried != c.tried {
			t.Errorf("%s: bound %+v, %d tried, %s, %v\nwant %+v, %d", name, a.LowerBound, a.Tried, toldOfClear(a), err, c.bound, c.tried)
		}
	}
}

// A domain of which a victim must move and has no place is left out, and no other is lost: each domain is tried once.
func TestDomainsAreLeftOutOneByOne(t *testing.T) {
	rack := func(name string, nodes ...string) placement.Domain { return placement.Domain{Name: name, Nodes: nodes} }
	gang := func(domains ...placement.Domain) placement.Request {
		r := pending(1, 4)
		r.Group, r.MinCount, r.Domains = "gang", 2, domains
		r.Pods = append(r.Pods, workload.Pod{ID: "too", Requests: workload.Resources{"gpu": 4}})
		return r
	}
	r1, r2, r3 := rack("r1", "a", "b"), rack("r2", "c", "d"), rack("r3", "e", "f")
	const racks = "a=4 b=4 c=4 d=4 e=4 f=4 g=1 e:x=1 c:w@=1 a:v@=1"
	for name, c := range map[string]struct {
		state   string
		request placement.Request
		want    string
		tried   int
	}{
		"the third rack":      {racks, gang(r1, r2, r3), "Preempt new->e too->f x:e->g | -x +new +too +x", 3},
		"whatever its place":  {racks, gang(r1, r3, r2), "Preempt new->e too->f x:e->g | -x +new +too +x", 3},
		"no rack":             {racks, gang(r1, r2), "Impossible", 2},
		"the only rack":       {"a=4 b=4 c=4 d=4 g=2 c:x=1 d:y=1 a:v@=1", gang(r1), "Impossible", 1},
		"the third node":      {"a=4 b=4 c=4 g=1 c:x=1 b:w@=1 a:v@=1", pending(1, 4), "Preempt new->c x:c->g | -x +new +x", 3},
		"the only node named": {"a=4 b=4 g=2 a:v@=1 b:x=1", on(pending(1, 4), "a"), "Impossible", 1},
	} {
		d, err := moves.Decide(nil, snapshot(t, cluster(c.state)), c.request, moves.Config{Price: mustMove})
		if got := told(d); err != nil || got != c.want || d.Tried != c.tried {
			t.Errorf("%s: %s, %d tried, %v\nwant %s, %d", name, got, d.Tried, err, c.want, c.tried)
		}
	}
}

// After MaxTries domains no other one is looked at.
func TestMaxTriesEndsTheSearch(t *testing.T) {
	s := snapshot(t, cluster("a=4 b=4 c=4 g=1 c:x=1 b:w@=1 a:v@=1"))
	for tries, want := range map[int]string{2: "Impossible", 3: "Preempt new->c x:c->g | -x +new +x"} {
		d := must(moves.Decide(nil, s, pending(1, 4), moves.Config{Price: mustMove, MaxTries: tries}))(t)
		if got := told(d); got != want || d.Tried != tries {
			t.Errorf("%d tries: %s, %d tried, want %s", tries, got, d.Tried, want)
		}
	}
}

// Prefer asks about the units of the domain of the first decision alone, at most MaxTries of them, the least important first.
func TestPreferAsksInTheDomain(t *testing.T) {
	const newer, older = "a=4 b=4 c=4 a:m/g=0 a:n/g=0 b:w=2 b:x=2 a:u=2 a:v=2", "a=4 b=4 c=4 a:u=2 a:v=2 b:w=2 b:x=2"
	group := pending(1, 2)
	group.Group, group.MinCount = "gang", 1
	racks := []placement.Domain{{Name: "r1", Nodes: []string{"a"}}, {Name: "r2", Nodes: []string{"b"}}}
	for name, c := range map[string]struct {
		state   string
		request placement.Request
		domains []placement.Domain
		tries   int
		want    string
	}{
		"the first":  {newer, group, racks, 0, "u v"}, // the group is not like the victim
		"the other":  {older, group, racks, 0, "w x"},
		"no domain":  {older, group, nil, 0, "u v w x"},
		"only three": {older, group, nil, 3, "v w x"},
		"a pod":      {newer, pending(1, 2), nil, 0, "u v"},
	} {
		st := cluster(c.state)
		st.Nodes[2].Unschedulable = true
		st.Nodes = append(st.Nodes, workload.Node{Name: "roomy", Capacity: workload.Resources{"gpu": 8}})
		r := c.request
		r.Domains = c.domains
		for i := range r.Pods {
			r.Pods[i].Nodes = []string{"a", "b"}
		}
		d, err := moves.Decide(nil, snapshot(t, st), r, moves.Config{Prefer: true, MaxTries: c.tries})
		got := strings.Join(d.Elsewhere, " ")
		if asked := len(strings.Fields(c.want)); err != nil || got != c.want || d.Tried != asked+1 { // and for the victim
			t.Errorf("%s: %s; elsewhere %s, %d tried, %v; want %s", name, told(d), got, d.Tried, err, c.want)
		}
	}
}
