package assign

import (
	"sync/atomic"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Plan holds the resource groups of a queue, with columns in place of names. It is immutable.
type Plan struct {
	Groups []Group
	places map[string]place // by resource
}

type place struct{ group, resource int }

// Place returns the group of a resource and its index there; ok is false if the queue has no
// quota for it in any flavor.
func (p *Plan) Place(resource string) (group, at int, ok bool) {
	place, ok := p.places[resource]
	return place.group, place.resource, ok
}

// Column returns the column of a flavor and resource of the group; -1 if the queue has no
// quota.
func (g *Group) Column(flavor, resource int) int { return g.columns[flavor*len(g.Resources)+resource] }

func newPlan(q *queue.Queue, columns *cluster.Columns, flavors map[string]*queue.Flavor) *Plan {
	groups := q.ResourceGroups()
	p := &Plan{Groups: make([]Group, len(groups)), places: make(map[string]place)}
	flavorAt := make(map[string]int)
	for i, g := range groups {
		for j, r := range g.Resources {
			p.places[r] = place{i, j}
		}
		for j, f := range g.Flavors {
			flavorAt[f] = j
		}
		p.Groups[i] = Group{Resources: g.Resources, Flavors: g.Flavors, columns: make([]int, len(g.Resources)*len(g.Flavors))}
		for j := range p.Groups[i].columns {
			p.Groups[i].columns[j] = -1
		}
		p.Groups[i].know(flavors)
	}
	p.knowTopology()
	for _, e := range q.Quotas {
		at := p.places[e.Resource]
		g := &p.Groups[at.group]
		g.columns[flavorAt[e.Flavor]*len(g.Resources)+at.resource] = columns.Number(quota.FlavorResource{Flavor: e.Flavor, Resource: e.Resource})
	}
	return p
}

// knowTopology finds out whether all flavors of the queue have a topology.
func (p *Plan) knowTopology() {
	for i := range p.Groups {
		for _, f := range p.Groups[i].known {
			if f == nil || f.Topology.Name == "" {
				return
			}
		}
	}
	for i := range p.Groups {
		p.Groups[i].onlyTopology = true
	}
}

// Plans holds the plans of all queues of one configuration, and what is known about flavors.
// A plan is made when it is first needed. Any number of goroutines may use Plans.
type Plans struct {
	byQueue []atomic.Pointer[Plan]
	flavors []queue.Flavor
	byName  map[string]*queue.Flavor
}

// NewPlans returns the plans of a cluster's queues. It keeps flavors.
func NewPlans(c *cluster.Cluster, flavors []queue.Flavor) *Plans {
	p := &Plans{make([]atomic.Pointer[Plan], len(c.Queues)), flavors, make(map[string]*queue.Flavor, len(flavors))}
	for i := range flavors {
		p.byName[flavors[i].Name] = &flavors[i]
	}
	return p
}

// Flavors returns what is known about flavors; callers must not change it.
func (p *Plans) Flavors() []queue.Flavor { return p.flavors }

// Of returns the plan of the queue at a node of a cluster with that configuration.
func (p *Plans) Of(c *cluster.Cluster, node int) *Plan {
	at := &p.byQueue[node-len(c.Cohorts)]
	plan := at.Load()
	if plan == nil { // two goroutines may make the same plan twice
		plan = newPlan(c.Queue(node), c.Columns, p.byName)
		at.Store(plan)
	}
	return plan
}
