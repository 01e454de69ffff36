package state

import (
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// belong takes over what the group of a pod decides; nil: it has no group.
func (p *Pod) belong(g *Group) {
	p.Priority, p.Queue, p.surplus = p.Facts.Priority, p.Facts.Queue, false
	if g != nil && g.Known {
		p.Priority, p.Queue, p.surplus = g.Facts.Priority, g.Facts.Queue, g.isSurplus(&p.Facts)
	}
	p.Minimum = minimumsOf(&p.Facts, g)
}

// minimumsOf returns the minimum runtimes of a pod by kind: its own, else those of its group.
func minimumsOf(p *workload.Pod, g *Group) (minimum [2]int64) {
	own, ofGroup := [...]quota.OptionalDuration{p.MinRuntime, p.ReclaimMinRuntime}, [2]quota.OptionalDuration{}
	if g != nil && g.Known {
		ofGroup = [...]quota.OptionalDuration{g.Facts.MinRuntime, g.Facts.ReclaimMinRuntime}
	}
	for kind := range minimum {
		minimum[kind] = int64(own[kind].Or(ofGroup[kind].Or(UnsetMinimum)))
	}
	return minimum
}
