package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/rooms"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// queueShares is what a queue may have and has, as KAI counts it.
type queueShares struct {
	Queue  string          `json:"queue"`
	Parent string          `json:"parent,omitempty"`
	Shares []resourceShare `json:"shares"`
	depth  int
}

// resourceShare is that of one resource.
type resourceShare struct {
	Quota int64 `json:"quota"`           // 9223372036854775807: unlimited
	Limit int64 `json:"limit,omitempty"` // likewise
	fairshare.Share
}

// fairShares lists the queues from the roots down; nil if fair shares do not decide.
func (c *cluster) fairShares() (list []queueShares) {
	if !c.ByFairShares() {
		return nil
	}
	shares, claims := map[string][]fairshare.Share{}, map[string]*fairshare.Queue{}
	for _, q := range c.Snapshot.FairShares() {
		shares[q.Queue] = q.Shares
	}
	for i := range c.State.FairShares.Queues {
		q := &c.State.FairShares.Queues[i]
		claims[q.Name] = q
	}
	for _, n := range answers.Tree(c.Snapshot) {
		q := claims[n.Name]
		if q == nil {
			continue // above all queues
		}
		out := queueShares{Queue: n.Name, Parent: q.Parent, depth: n.Depth - 1}
		for _, share := range shares[n.Name] {
			r := resourceShare{Limit: quota.Unlimited, Share: share}
			for _, claim := range q.Claims {
				if claim.Resource == share.Resource {
					r.Quota, r.Limit = claim.Quota, claim.Limit.Or(quota.Unlimited)
				}
			}
			out.Shares = append(out.Shares, r)
		}
		list = append(list, out)
	}
	return list
}

// sharesAsked are the shares that an answer goes by: of the queues above the request, and of those that give or stand in the way; of GPUs,
// and of what is starved or short. With all they are of everything that is asked for, with tree of every queue.
func (a *answer) sharesAsked(all, tree bool) (list []queueShares) {
	list = a.fairShares()
	parents := map[string]string{}
	for _, q := range list {
		parents[q.Queue] = q.Parent
	}
	shown := map[string]bool{}
	show := func(name string) {
		for ; name != "" && !shown[name]; name = parents[name] {
			shown[name] = true
		}
	}
	show(a.request.Workload.Queue)
	for _, v := range a.decision.Victims {
		show(v.Queue)
	}
	for _, k := range a.decision.Blockers {
		show(k.Queue)
	}
	short := map[string]bool{kai.GPU: true}
	for _, s := range a.decision.Shortage {
		short[s.Resource] = true
	}
	for _, column := range a.requested() {
		short[column.Resource] = short[column.Resource] || all
	}
	list = slices.DeleteFunc(list, func(q queueShares) bool { return !tree && !shown[q.Queue] })
	for i := range list {
		list[i].Shares = slices.DeleteFunc(list[i].Shares, func(r resourceShare) bool { return !short[r.Resource] })
	}
	return list
}

// sharesOfAll are the shares of every queue, of GPUs and of what some queue gets less of than it asks for, or holds too much of; with all of
// everything.
func (c *cluster) sharesOfAll(all bool) []queueShares {
	list := c.fairShares()
	shown := map[string]bool{kai.GPU: true}
	for _, q := range list {
		for _, r := range q.Shares {
			shown[r.Resource] = shown[r.Resource] || all || r.Over > 0 || r.FairShare < min(r.Request, r.Limit)
		}
	}
	for i := range list {
		list[i].Shares = slices.DeleteFunc(list[i].Shares, func(r resourceShare) bool { return !shown[r.Resource] })
	}
	return list
}

// printFairShares prints a row for each queue and resource.
func (c *cluster) printFairShares(b *cli.Page, list []queueShares) {
	t := &cli.Table{Columns: []cli.Column{
		{Name: "queue", Least: 16, Cut: true}, {Name: "resource"}, {Name: "quota", Right: true}, {Name: "limit", Right: true}, {Name: "fair share", Right: true},
		{Name: "in use", Right: true}, {Name: "over", Right: true}, {Name: "starved", Right: true},
	}}
	several := slices.ContainsFunc(list, func(q queueShares) bool { return len(q.Shares) > 1 })
	for _, q := range list {
		name := strings.Repeat("  ", max(0, q.depth)) + q.Queue
		for _, r := range q.Shares {
			text := func(n int64) string { return units.Amount(r.Resource, n) }
			t.Row(name, r.Resource, text(r.Quota), text(r.Limit), text(r.FairShare), text(r.Usage), orDash(r.Resource, r.Over), orDash(r.Resource, r.Starved))
			name = ""
		}
	}
	if !several {
		t.Drop(1)
		b.Say("SHARES OF GPU\n")
	}
	b.Table(t)
	b.Say("A fair share is what a queue is entitled to of what nodes have: its quota first, and a part of the rest by its weight, as much as is asked for.\n")
}

// reasonText says what a reason of a victim means.
func (a *answer) reasonText(r preemption.VictimReason) string {
	if !a.ByFairShares() {
		return explain.Reason(r)
	}
	if r == preemption.InCohortFairSharing {
		return "reclaimed: its queue holds more than its fair share, or than its quota while the queue that asks is within its own"
	}
	return "preempted: it has lower priority in the same queue"
}

// printMissing says what a group lacks.
func (a *answer) printMissing(b *cli.Page) {
	for _, s := range a.decision.Shortage {
		queue := "queue " + a.request.Workload.Queue
		if s.Cohort != "" {
			queue = a.Words("cohort " + s.Cohort)
		}
		asked := int64(0)
		for _, u := range a.assigned.Usage() {
			if u.FlavorResource() == s.FlavorResource {
				asked = u.Amount
			}
		}
		amount := func(n int64) string { return units.Amount(s.Resource, n) + " " + s.Resource }
		switch {
		case s.NeverYields:
			b.Say("What is not preemptible gets nothing over the quota: with it %s would have %s more than its quota in groups that are not preemptible.\n", queue, amount(s.Missing))
		case asked > s.PotentialAvailable && s.Cohort == kai.AllQueues:
			b.Say("It asks for %s, and nodes have %s.\n", amount(asked), amount(s.PotentialAvailable))
		case asked > s.PotentialAvailable:
			b.Say("It asks for %s, and %s may have %s (limit; an absent one is 0).\n", amount(asked), queue, amount(s.PotentialAvailable))
		case s.Cohort == kai.AllQueues:
			b.Say("%s are still missing on nodes without all groups that may be told to leave.\n", amount(s.Missing))
		default:
			b.Say("%s are still missing within the limit of %s without all groups that may be told to leave.\n", amount(s.Missing), queue)
		}
	}
	if a.decision.NoRoom {
		b.Say("No nodes have room for its pods together, without all groups that may be told to leave.\n")
	}
}

// requesting is the cluster once the workload that the command line describes waits in it: what a queue requests is part of what its fair
// share goes by. A workload of the input counts already, in its own queue alone.
func (c *cluster) requesting(o *options) (*cluster, error) {
	switch {
	case o.request == "" && o.queue != "":
		return nil, errors.New("-queue: a group of KAI counts in its own queue: give -f with another spec.queue")
	case o.request == "":
		return c, nil
	}
	p, err := describe(*o, &c.Input, c.Now)
	if err != nil {
		return nil, err
	}
	p.Workload.Queue = o.queue
	return c.with(&p.Workload)
}

// with is the cluster once a workload waits in it that is not in the input.
func (c *cluster) with(w *workload.Workload) (*cluster, error) {
	with := *c
	with.State.FairShares = answers.Requesting(c.State.FairShares, w, nil)
	var err error
	with.Snapshot, err = c.Snapshot.With(preemption.SetFairShares(with.State.FairShares))
	return &with, err
}

// asking returns what a request of a client is decided on: the cluster, as edits left it, with its room on nodes. A workload of the input has its
// own pods; any other counts in its queue, and its pods may run on all nodes.
func (c *cluster) asking(on *preemption.Snapshot, r preemption.Request) (_ *preemption.Snapshot, placed preemption.Request, notes []string, err error) {
	var beside []string
	if on != c.Snapshot {
		edited := *c
		edited.Snapshot, edited.Found.Nodes.Pods = on, c.stay(on)
		more, without, err := c.added(on, edited.Found.Nodes)
		if err != nil {
			return nil, r, nil, err
		}
		edited.Found.Nodes.Pods, beside = append(edited.Found.Nodes.Pods, more...), without
		c = &edited
	}
	var pods []workload.Pod
	at := slices.IndexFunc(c.Found.Pending, func(p bridge.Pending) bool {
		return p.Workload.ID == r.Workload.ID && p.Workload.Queue == r.Workload.Queue
	})
	if at >= 0 && slices.Equal(c.Found.Pending[at].Workload.Usage(), r.Workload.Usage()) {
		p := &c.Found.Pending[at]
		s := c.Standing(p, nil, answers.Namespace(r.Workload.ID))
		pods, notes = p.Pods, slices.Concat(s.Doubts, s.Notes)
	}
	if len(pods) == 0 {
		p, err := kai.Describe(r.Workload)
		if err != nil {
			return nil, r, nil, preemption.Faults{{Path: "request.workload.podSets", Problem: err.Error()}}
		}
		r.Workload, pods = p.Workload, p.Pods
		if at < 0 { // else it counts already
			if c, err = c.with(&r.Workload); err != nil {
				return nil, r, nil, err
			}
		}
	}
	w := answers.Waiting{Request: r, Workload: r.Workload, Pods: pods}
	err = rooms.New(&c.Cluster, c.nodes).Place(&w)
	return c.Snapshot, w.Request, append(notes, beside...), err
}

// added returns the pods of workloads that edits added, by ID one after the other on nodes where they have room; notes say which have none.
func (c *cluster) added(on *preemption.Snapshot, nodes placement.State) (pods []workload.Pod, notes []string, err error) {
	all := rooms.All(nodes)
	for w := range on.Workloads() {
		if _, ran := c.Snapshot.Find(w.ID); ran {
			continue
		}
		p, err := kai.Describe(w)
		if err != nil || len(p.Pods) == 0 {
			notes = append(notes, fmt.Sprintf("%s, which an edit adds, holds no room on nodes: its pods are not known", w.ID))
			continue
		}
		if at := slices.IndexFunc(c.Found.Pending, func(p bridge.Pending) bool { return p.Workload.ID == w.ID }); at >= 0 && len(c.Found.Pending[at].Pods) == len(p.Pods) {
			p.Pods = slices.Clone(c.Found.Pending[at].Pods) // with their constraints
			for i := range p.Pods {
				p.Pods[i].Group = w.ID
			}
		}
		fit, err := all.Fit(p.Pods, c.Now)
		if err != nil {
			return nil, nil, err
		}
		if !fit.Fits() {
			notes = append(notes, fmt.Sprintf("%s, which an edit adds, holds no room on nodes: there is none", w.ID))
			continue
		}
		var runs []placement.Edit
		for _, n := range fit.Nominations() {
			at := slices.IndexFunc(p.Pods, func(p workload.Pod) bool { return p.ID == n.Pod })
			p.Pods[at].Node = n.Node
			runs = append(runs, placement.Run(p.Pods[at]))
		}
		if err := all.Change(runs...); err != nil {
			return nil, nil, err
		}
		pods = append(pods, p.Pods...)
	}
	return pods, notes, nil
}

// stay lists the pods on nodes without those of workloads that edits removed, or of which they removed some: the last.
func (c *cluster) stay(on *preemption.Snapshot) (pods []workload.Pod) {
	kept := map[string]int64{}
	for _, p := range c.Found.Nodes.Pods {
		if ran, held := c.Snapshot.Find(p.Group); held {
			w, runs := on.Find(p.Group)
			if !runs || kept[p.Group] == w.PodSets[0].Count && w.PodSets[0].Count < ran.PodSets[0].Count {
				continue
			}
			kept[p.Group]++
		}
		pods = append(pods, p)
	}
	return pods
}
