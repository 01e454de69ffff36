package session

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/quota/fairshare"
)

// try tries what yielded to fewer pods, and more. done: it succeeds, or no more is tried.
func (p *probe) try(more []batch) (done bool, err error) {
	if p.trials >= mostTrials || p.search.trials >= mostInAction {
		p.search.cut = true
		return true, nil
	}
	key := p.key(more)
	if len(p.yielded)+len(more) == 0 || p.tried[key] {
		return false, nil
	}
	p.tried[key] = true
	p.trials++
	p.search.trials++
	t := p.look(p.amongWith(p.yielded, more))
	asks := t.own(p.asks)
	for i := range asks.phases {
		if asks.phases[i] == waits && !slices.Contains(p.next[:p.pods], i) {
			asks.phases[i] = left // the trial is without it
		}
	}
	asks.Minimum = min(asks.Minimum, asks.running+p.pods)
	batches := slices.Concat(p.yielded, more)
	yield := map[*job]bool{}
	for _, b := range batches {
		for _, i := range b.pods {
			t.evict(b.job, i)
		}
		yield[t.own(b.job)] = true
	}
	starts, err := t.serve(asks, yield)
	if !starts || err != nil {
		return false, err
	}
	if ok, err := p.accepts(t, batches); !ok || err != nil {
		return false, err
	}
	delete(p.tried, key) // it is carried out
	p.found, p.batches = t, batches
	return true, nil
}

// key is the same for the same victims.
func (p *probe) key(more []batch) string {
	key := fmt.Appendln(nil, p.pods)
	for _, list := range [][]batch{p.yielded, more} {
		for _, b := range list {
			key = fmt.Appendln(key, b.job.at, b.pods)
		}
		key = append(key, '\n')
	}
	return string(key)
}

// victims returns the batches of which some pod left its node.
func (p *probe) victims() []batch {
	return slices.DeleteFunc(p.batches, func(b batch) bool {
		return !slices.ContainsFunc(b.pods, func(i int) bool { return p.found.copies[b.job].phases[i] != runs })
	})
}

// accepts reports whether the rules accept what a trial did to the victims: in consolidation each has a place, else a job keeps its minimum or leaves
// whole, a protected one keeps it, and of a reclaim the shares allow it. (In KAI a job may keep less, if the node of its surplus is not looked
// at, or if it lost its surplus in the same session and is protected. No recorded session has that.)
func (p *probe) accepts(t *trial, batches []batch) (bool, error) {
	var order []*job
	all := map[*job][]int{}
	for _, b := range batches {
		if all[b.job] = append(all[b.job], b.pods...); !slices.Contains(order, b.job) {
			order = append(order, b.job)
		}
	}
	var units []fairshare.Unit
	for _, j := range order {
		here := t.copies[j]
		switch {
		case p.action == Consolidation:
			if slices.ContainsFunc(all[j], func(i int) bool { return here.phases[i] == waits }) {
				return false, nil
			}
		case here.running > 0 && here.running < j.Minimum, p.protected(j) && j.Minimum > j.running-len(all[j]):
			return false, nil
		}
		units = append(units, p.units(j, here, all[j])...)
	}
	if p.action != "reclaim" {
		return true, nil
	}
	return p.allows(units)
}

// units lists what yields at once of a job: as many pods as its minimum together, the others singly, without those that have a place.
func (p *probe) units(j, here *job, pods []int) (list []fairshare.Unit) {
	add := func(pods []int) {
		pods = slices.DeleteFunc(slices.Clone(pods), func(i int) bool { return here.phases[i] != waits })
		if len(pods) > 0 {
			list = append(list, fairshare.Unit{Queue: j.Workload.Queue, Usage: p.sum(j, pods)})
		}
	}
	core := min(len(pods), j.Minimum)
	for k := range pods[core:] {
		add(pods[core+k : core+k+1])
	}
	add(pods[:core])
	return list
}

// allows reports whether units may yield in some order: of those of a sibling of the reclaimer the last alone decides.
func (p *probe) allows(units []fairshare.Unit) (bool, error) {
	for range len(units) + 1 {
		refused, err := p.rules.Allows(p.reclaimer(p.pods), units)
		if err != nil || refused.Rule != fairshare.NotOver {
			return refused == fairshare.Refusal{}, err
		}
		at := slices.IndexFunc(units, func(u fairshare.Unit) bool { return p.isBelow(u.Queue, refused.Queue) })
		units = append(slices.Delete(slices.Clone(units), at, at+1), units[at])
	}
	return false, nil
}
