package assign

import (
	"sync/atomic"

	"github.com/cedesched/cede/internal/engine/cluster"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// Plan is the resource groups of a queue with columns for flavor-resources. It is
// immutable.
type Plan struct {
	Groups []Group
	places map[string]place // by resource
}

type place struct{ group, resource int }

// Group is a resource group.
type Group struct {
	Resources []string
	Flavors   []string
	columns   []int           // by flavor, then resource; -1 where the queue has no quota
	known     []*queue.Flavor // by flavor; nil where nothing is known
	keys      []string        // of the labels of the flavors, sorted
}

// Place returns the group of a resource and its index there; ok is false when the queue
// has no quota of it in any flavor.
func (p *Plan) Place(resource string) (group, at int, ok bool) {
	place, ok := p.places[resource]
	return place.group, place.resource, ok
}

// Column returns the column of a flavor and resource of the group; -1 where the queue has
// no quota.
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
	for _, e := range q.Quotas {
		at := p.places[e.Resource]
		g := &p.Groups[at.group]
		g.columns[flavorAt[e.Flavor]*len(g.Resources)+at.resource] = columns.Number(quota.FlavorResource{Flavor: e.Flavor, Resource: e.Resource})
	}
	return p
}

// Plans holds the plans of all queues of one configuration and of what is known of flavors. Each is made when it is first
// asked for; any number of goroutines may ask.
type Plans struct {
	byQueue []atomic.Pointer[Plan]
	flavors []queue.Flavor
	byName  map[string]*queue.Flavor
}

// NewPlans returns the plans of a cluster's queues. It keeps the flavors.
func NewPlans(c *cluster.Cluster, flavors []queue.Flavor) *Plans {
	p := &Plans{make([]atomic.Pointer[Plan], len(c.Queues)), flavors, make(map[string]*queue.Flavor, len(flavors))}
	for i := range flavors {
		p.byName[flavors[i].Name] = &flavors[i]
	}
	return p
}

// Flavors returns what is known of flavors, which must not be changed.
func (p *Plans) Flavors() []queue.Flavor { return p.flavors }

// Of returns the plan of the queue at the node of a cluster of that configuration.
func (p *Plans) Of(c *cluster.Cluster, node int) *Plan {
	at := &p.byQueue[node-len(c.Cohorts)]
	plan := at.Load()
	if plan == nil { // two goroutines may make the same plan twice
		plan = newPlan(c.Queue(node), c.Columns, p.byName)
		at.Store(plan)
	}
	return plan
}
