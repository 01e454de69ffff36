package reclaim

import (
	"github.com/cedesched/cede/internal/entitled"
	"github.com/cedesched/cede/quota"
)

// stand says how a node stands now. What is gone in other queues below it than that which is next does not count, as in KAI.
func (t *Taker) stand(p *place) {
	queue := p
	for len(queue.heap) > 0 {
		queue = &t.places[queue.heap[0]]
	}
	p.Standing = entitled.Stand()
	for i, held := range p.held {
		p.Count(t.of.Queues, p.node, i, held, held, quota.Sub(held, quota.Add(queue.gone[i], t.next(queue, i))))
	}
}

// earlier is the order in which siblings yield.
func (t *Taker) earlier(x, y *int32) bool {
	a, b := &t.places[*x], &t.places[*y]
	return t.of.Compare(a.node, b.node, &a.Standing, &b.Standing) > 0
}

// next returns what is left of a resource of the workload of which the next candidate of a queue is.
func (t *Taker) next(p *place, resource int) int64 {
	if !p.line.more {
		return 0
	}
	v := &p.line.head
	return quota.Sub(t.left(v, resource), quota.Mul(p.line.taken, t.unit(v, resource)))
}
