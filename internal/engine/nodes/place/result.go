package place

import (
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
)

// Placement is a domain, the nodes of the members there, and the victims.
type Placement struct {
	Domain     string
	Where      []int32 // by member: the number of its node, -1: none; during a search the node of the search
	Victims    []*state.Unit
	Violations []int // by victim: its pods evicted against a budget
	Score      Score
}

// NewPlacement returns a placement without victims in which no member has a place.
func NewPlacement(domain string, members int) Placement {
	p := Placement{Domain: domain, Where: make([]int32, members)}
	for m := range p.Where {
		p.Where[m] = -1
	}
	return p
}

// Evict adds a victim: the pods of a list that run.
func (p *Placement) Evict(c *state.Cluster, group string, ids []string, violations int) {
	var pods []*state.Pod
	for _, id := range ids {
		if running := c.Pod(id); running != nil {
			pods = append(pods, running)
		}
	}
	if len(pods) > 0 {
		p.Victims, p.Violations = append(p.Victims, state.NewUnit(group, pods)), append(p.Violations, violations)
	}
}

// Rate sets the score.
func (p *Placement) Rate() {
	p.Score = NoVictims
	for i, u := range p.Victims {
		p.Score.Add(u.Priority, int64(len(u.Pods)), int64(p.Violations[i]), u.Started)
	}
}

// Rate scores victims.
func (b *Board) Rate(victims []*state.Unit) Score {
	score := NoVictims
	for _, u := range victims {
		score.Add(u.Priority, int64(len(u.Pods)), int64(b.Violations(u)), u.Started)
	}
	return score
}

// Keep copies the members' places and the victims into a placement.
func (b *Board) Keep(into *Placement, d room.Domain, victims []*state.Unit, score Score) {
	into.Score, into.Domain = score, b.DomainName(d)
	into.Where = append(into.Where[:0], b.Where...)
	into.Victims = append(into.Victims[:0], victims...)
	into.Violations = into.Violations[:0]
	for _, u := range victims {
		into.Violations = append(into.Violations, b.Violations(u))
	}
}

// DomainName returns the name of a domain; for a single pod that of its node.
func (b *Board) DomainName(d room.Domain) string {
	if b.Request.Group == "" && d.Size() == 1 {
		return b.Nodes[d.From].Facts.Name
	}
	return d.Name
}

// Number changes the search's nodes of a placement into the cluster's numbers.
func (b *Board) Number(p *Placement) {
	for m, i := range p.Where {
		if i >= 0 {
			p.Where[m] = b.Nodes[i].Number
		}
	}
}

// InOrder lists the members with a place in a placement, in the order of the request.
func (p *Placement) InOrder() (order []int32) {
	for m, node := range p.Where {
		if node >= 0 {
			order = append(order, int32(m))
		}
	}
	return order
}
