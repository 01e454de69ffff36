package session

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/quota"
)

// batch is pods of a job that yield together.
type batch struct {
	job  *job
	pods []int
}

// probe looks for victims for the first pods of a job.
type probe struct {
	*prober
	pods    int
	yielded []batch // to fewer pods
	line    victims
	// found is the trial that succeeded, of the batches.
	found   *trial
	batches []batch
}

// grow tries nobody, then what each more that may yield adds, as soon as all together may have what is asked for.
func (p *probe) grow(try func(all []batch) (done bool, err error)) error {
	if done, err := p.try(nil); done || err != nil {
		return err
	}
	var all []batch
	for {
		b, ok, err := p.more()
		if !ok || err != nil {
			return err
		}
		if all = append(all, b); !p.coverable(all) {
			continue
		}
		if done, err := try(all); done || err != nil {
			return err
		}
	}
}

// byNode tries, as more may yield, for each node of the last of them all victims of the jobs with one there.
func (p *probe) byNode() error {
	return p.grow(func(all []batch) (bool, error) {
		var seen []string
		last := all[len(all)-1].job
		for i := range last.Pods {
			if node := last.Pods[i].Node; node != "" && !slices.Contains(seen, node) {
				seen = append(seen, node)
			}
		}
		slices.Sort(seen)
		for _, node := range seen {
			if set := p.on(node, all); len(set) > 0 {
				if done, err := p.try(set); done || err != nil {
					return done, err
				}
			}
		}
		return false, nil
	})
}

// on returns all victims of the jobs with one on a node, by job. Those that yielded to fewer pods are among them, and leave twice.
func (p *probe) on(node string, all []batch) (set []batch) {
	for _, b := range all {
		if !slices.ContainsFunc(b.pods, func(i int) bool { return b.job.Pods[i].Node == node }) ||
			slices.ContainsFunc(set, func(o batch) bool { return o.job == b.job }) {
			continue
		}
		of := batch{job: b.job}
		for _, list := range [][]batch{p.yielded, all} {
			for _, o := range list {
				if o.job == b.job {
					of.pods = append(of.pods, o.pods...)
				}
			}
		}
		set = append(set, of)
	}
	return set
}

// byNodes tries, as more may yield, the victims on several nodes: those of which least is free with them, as many as have what is asked for, then
// 1, 2, 4, ... more.
func (p *probe) byNodes() error {
	return p.grow(func(all []batch) (bool, error) {
		nodes, n := p.smallest(all)
		for step := 1; n <= len(nodes); step *= 2 {
			var set []batch
			for _, b := range all {
				if slices.ContainsFunc(b.pods, func(i int) bool { return slices.Contains(nodes[:n], b.job.Pods[i].Node) }) {
					set = append(set, b)
				}
			}
			if done, err := p.try(set); done || err != nil {
				return done, err
			}
			if n == len(nodes) {
				break
			}
			n = min(n+step, len(nodes))
		}
		return false, nil
	})
}

// smallest returns the nodes of the victims, that of which the fewest GPUs are free with them first, and how many of them have what is asked for; more
// than there are: all are not enough.
func (p *probe) smallest(all []batch) (nodes []string, n int) {
	free, with := p.freeGPUs(p.yielded), p.freeGPUs(p.yielded, all)
	wants := p.wants()
	least := wants[len(wants)-1]
	rest := int64(0)
	for _, amount := range wants {
		rest = quota.Add(rest, amount)
	}
	for _, b := range all {
		for _, i := range b.pods {
			if node := b.job.Pods[i].Node; node != "" && !slices.Contains(nodes, node) {
				nodes = append(nodes, node)
			}
		}
	}
	among := p.amongWith(p.yielded)
	for i := range p.search.books.nodes {
		if name := p.search.books.nodes[i].Name; among[i] && !slices.Contains(nodes, name) {
			rest -= free[name]
		}
	}
	nodes = slices.DeleteFunc(nodes, func(node string) bool { return least > 0 && with[node] < least })
	slices.SortStableFunc(nodes, func(x, y string) int { return cmp.Compare(with[x], with[y]) })
	for ; rest > 0 && n < len(nodes); n++ {
		rest -= with[nodes[n]]
	}
	if rest > 0 {
		n = len(nodes) + 1
	}
	return nodes, n
}

// freeGPUs returns by node the GPUs that are free without some victims.
func (p *probe) freeGPUs(lists ...[]batch) map[string]int64 {
	free := map[string]int64{}
	for i := range p.search.books.nodes {
		free[p.search.books.nodes[i].Name] = p.search.books.nodes[i].free(kai.GPU)
	}
	for _, list := range lists {
		for _, b := range list {
			for _, i := range b.pods {
				free[b.job.Pods[i].Node] += gpus(&b.job.Pods[i])
			}
		}
	}
	return free
}

// wants lists the GPUs of the pods that ask, the largest first.
func (p *probe) wants() (list []int64) {
	for _, i := range p.next[:p.pods] {
		list = append(list, gpus(&p.asks.Pods[i]))
	}
	slices.SortFunc(list, func(x, y int64) int { return cmp.Compare(y, x) })
	return list
}

// coverable reports whether enough GPUs are free on single nodes without the victims.
func (p *probe) coverable(all []batch) bool {
	free := slices.Sorted(maps.Values(p.freeGPUs(p.yielded, all)))
	slices.Reverse(free)
	wants := p.wants()
	free = free[:min(len(free), len(wants))]
	for _, amount := range wants {
		at := slices.IndexFunc(free, func(n int64) bool { return n >= amount })
		if amount > 0 && at < 0 {
			return false
		}
		if amount > 0 {
			free[at] -= amount
		}
	}
	return true
}

// amongWith are the nodes at which KAI looks, and those of victims.
func (p *probe) amongWith(lists ...[]batch) []bool {
	among := slices.Clone(p.among)
	for _, list := range lists {
		for _, b := range list {
			for _, i := range b.pods {
				if at, known := p.search.books.at[b.job.Pods[i].Node]; known {
					among[at] = true
				}
			}
		}
	}
	return among
}
