package foreign

import (
	"slices"
)

// domain is a place in a topology, with how many pods are there.
type domain struct {
	Levels []string `json:"levels"`
	Values []string `json:"values"`
	Count  int64    `json:"count"`
}

// in reports whether a node is in a domain.
func (n *ruleNode) in(d domain) bool {
	for i, level := range d.Levels {
		if n.Labels[level] != d.Values[i] {
			return false
		}
	}
	return true
}

// has reports whether labels include others.
func has(labels, others map[string]string) bool {
	for key, value := range others {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// places returns the smallest sets of workloads that have to go so that each pod set of the request has a place on the nodes;
// nil without a topology request.
func (k *ruleCase) places() (sets [][]string) {
	if len(k.Nodes) == 0 || len(k.Incoming.PodSets) == 0 {
		return nil
	}
	sets = [][]string{}
	n := len(k.Admitted)
	for size := 0; size <= n; size++ {
		for bits := range 1 << n {
			gone, names := map[string]bool{}, []string{}
			for i := range n {
				if bits>>i&1 > 0 {
					gone[k.Admitted[i].Name], names = true, append(names, k.Admitted[i].Name)
				}
			}
			larger := slices.ContainsFunc(sets, func(s []string) bool {
				return !slices.ContainsFunc(s, func(w string) bool { return !gone[w] })
			})
			if len(names) == size && !larger && k.fits(gone) {
				sets = append(sets, names)
			}
		}
	}
	return sets
}

// fits reports whether each pod set has a place: for a required level in one domain of that level.
func (k *ruleCase) fits(gone map[string]bool) bool {
	for i := range k.Incoming.PodSets {
		p := &k.Incoming.PodSets[i]
		fit, most := map[string]int64{}, int64(0) // pods, by domain
		for _, n := range k.Nodes {
			if k.eligible(&n, p) {
				domain := n.Labels[p.TopologyRequest.Required]
				fit[domain] += k.podsOn(&n, p, gone)
				most = max(most, fit[domain])
			}
		}
		if most < p.Count {
			return false
		}
	}
	return true
}

// eligible reports whether a node has the labels that the flavors and the pod set ask for.
func (k *ruleCase) eligible(n *ruleNode, p *rulePodSet) bool {
	for _, a := range k.Incoming.Requests {
		for _, f := range k.Flavors {
			if f.Name == a.Flavor && !has(n.Labels, f.NodeLabels) {
				return false
			}
		}
	}
	return has(n.Labels, p.NodeSelector)
}

// podsOn returns how many pods of a pod set a node has room for.
func (k *ruleCase) podsOn(n *ruleNode, p *rulePodSet, gone map[string]bool) int64 {
	free := map[string]int64{}
	for _, a := range n.Allocatable {
		free[a.Resource] = a.Amount
	}
	for i := range k.Admitted {
		w := &k.Admitted[i]
		for j := range w.PodSets {
			for _, d := range w.PodSets[j].Domains {
				if !gone[w.Name] && n.in(d) {
					free["pods"] -= d.Count
					for _, a := range w.PodSets[j].Requests {
						free[a.Resource] -= d.Count * a.Amount
					}
				}
			}
		}
	}
	pods := max(0, free["pods"])
	for _, a := range p.Requests {
		if a.Amount > 0 {
			pods = min(pods, max(0, free[a.Resource])/a.Amount)
		}
	}
	return pods
}
