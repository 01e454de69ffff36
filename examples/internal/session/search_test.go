package session_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/examples/internal/session/judge"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// drawn draws a small cluster: some nodes, departments and teams, groups that run and groups that wait.
func drawn(r *rand.Rand) session.Cluster {
	c := session.Cluster{Flavor: "nodes", Now: now, KAISearch: true, Config: preemption.Config{Sharing: preemption.KAI}}
	resources := []string{"GPU", "cpu"}
	free := map[string]workload.Resources{}
	tree := fairshare.Tree{Resources: []fairshare.Resource{{Name: "GPU"}, {Name: "cpu"}}}
	for i := range 1 + r.IntN(3) {
		n := workload.Node{Name: fmt.Sprint("n", i), Capacity: workload.Resources{"GPU": r.Int64N(5), "cpu": 2 + r.Int64N(6)}}
		c.Nodes.Nodes, free[n.Name] = append(c.Nodes.Nodes, n), maps.Clone(n.Capacity)
		for k, resource := range resources {
			tree.Resources[k].Total += n.Capacity[resource]
		}
	}
	var teams []string
	for i := range 2 + r.IntN(3) {
		q := fairshare.Queue{Name: string(rune('a' + i)), Priority: r.Int64N(2), CreatedAt: now.Add(-time.Duration(r.IntN(5)) * time.Hour)}
		if i > 0 && r.IntN(3) == 0 && len(teams) > 1 {
			q.Parent = "department"
		}
		for _, resource := range resources {
			claim := fairshare.Claim{Resource: resource, Quota: r.Int64N(4), OverQuotaWeight: float64(r.IntN(3))}
			if r.IntN(3) == 0 {
				claim.Quota = quota.Unlimited
			}
			if r.IntN(5) == 0 {
				claim.Limit = quota.AtMost(r.Int64N(6))
			}
			q.Claims = append(q.Claims, claim)
		}
		teams = append(teams, q.Name)
		tree.Queues = append(tree.Queues, q)
	}
	for i := range 3 + r.IntN(6) {
		g := bridge.Group{Workload: workload.Workload{ID: fmt.Sprint("g", i), Queue: teams[r.IntN(len(teams))], Priority: int64(40 + 10*r.IntN(3)), NeverYields: r.IntN(5) == 0,
			Created: now.Add(-time.Duration(r.IntN(90)) * time.Minute), ReservedAt: now.Add(-time.Duration(r.IntN(20)) * time.Minute)}}
		n := 1 + r.IntN(4)
		g.Minimum = 1 + r.IntN(n)
		takes := workload.Resources{"GPU": r.Int64N(3), "cpu": 1 + r.Int64N(2)}
		runs := r.IntN(3) > 0
		for k := range n {
			p := workload.Pod{ID: fmt.Sprint(g.Workload.ID, "-", k), Requests: takes}
			for _, at := range r.Perm(len(c.Nodes.Nodes)) {
				name := c.Nodes.Nodes[at].Name
				if of := free[name]; runs && p.Node == "" && of["GPU"] >= takes["GPU"] && of["cpu"] >= takes["cpu"] {
					p.Node = name
					of["GPU"], of["cpu"] = of["GPU"]-takes["GPU"], of["cpu"]-takes["cpu"]
				}
			}
			g.Pods = append(g.Pods, p)
		}
		if placed := g.Pods[g.Minimum-1].Node != ""; runs && !placed { // less than the minimum does not run
			for k := range g.Pods {
				if p := &g.Pods[k]; p.Node != "" {
					free[p.Node]["GPU"], free[p.Node]["cpu"] = free[p.Node]["GPU"]+takes["GPU"], free[p.Node]["cpu"]+takes["cpu"]
					p.Node = ""
				}
			}
		}
		at := int(g.Workload.Queue[0] - 'a')
		for k, resource := range resources {
			tree.Queues[at].Claims[k].Request += int64(n) * takes[resource]
		}
		c.Groups = append(c.Groups, g)
	}
	tree.Queues = append(tree.Queues, fairshare.Queue{Name: "department", Claims: []fairshare.Claim{
		{Resource: "GPU", Quota: r.Int64N(6), OverQuotaWeight: 1}, {Resource: "cpu", Quota: quota.Unlimited, OverQuotaWeight: 1}}})
	c.State.FairShares = tree
	c.State.Cohorts, c.State.Queues = preemption.QueuesOf(tree, "all", c.Flavor)
	for i := range c.State.Queues {
		if r.IntN(3) == 0 {
			c.State.Queues[i].MinRuntime = minruntime.Settings{Reclaim: quota.Some(10 * time.Minute), Preempt: quota.Some(5 * time.Minute)}
		}
	}
	c.Nodes = placement.State{Nodes: c.Nodes.Nodes}
	return c
}

// What KAI's own search finds is right: the judge accepts who yields, and all that run have room on their nodes.
func TestKAISearchIsRight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	yield, moved := 0, 0
	for world := range worlds {
		c := drawn(r)
		s, err := session.New(c)
		if err != nil {
			t.Fatal(err)
		}
		floor := judge.NewFloor(c.Nodes.Nodes, c.Groups)
		for _, action := range session.Actions {
			err := s.Run(action, func(step *session.Step) {
				yield, moved = yield+len(step.Gone), moved+len(step.Moves())
				if err := judge.Victims(step, c.Config); err != nil {
					t.Errorf("world %d, %s of %s: %v", world, action, step.Group, err)
				}
				if err := floor.Follow(step); err != nil {
					t.Errorf("world %d, %s of %s: %v", world, action, step.Group, err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if yield < worlds/10 || moved < worlds/20 {
		t.Errorf("of %d worlds %d pods yield and %d move", worlds, yield, moved)
	}
}

const worlds = 300
