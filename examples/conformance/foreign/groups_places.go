package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// affinity is that of a pod. What is preferred only scores nodes.
type affinity struct {
	Anti struct {
		Required []struct {
			Selector workload.LabelSelector `json:"labelSelector"`
			Key      string                 `json:"topologyKey"`
		} `json:"requiredDuringSchedulingIgnoredDuringExecution"`
	} `json:"podAntiAffinity"`
	Pods struct {
		Required []any `json:"requiredDuringSchedulingIgnoredDuringExecution"`
	} `json:"podAffinity"`
	Nodes struct {
		Required any `json:"requiredDuringSchedulingIgnoredDuringExecution"`
	} `json:"nodeAffinity"`
}

// spread is a constraint on how pods are spread.
type spread struct {
	Selector   workload.LabelSelector `json:"labelSelector"`
	MaxSkew    int64                  `json:"maxSkew"`
	MinDomains int                    `json:"minDomains"`
	Key        string                 `json:"topologyKey"`
	When       string                 `json:"whenUnsatisfiable"`
}

type container struct {
	Ports []struct {
		Host int `json:"hostPort"`
	} `json:"ports"`
}

// reserveLimit is a plugin that permits so many pods on a node: those that it counts, and those that have taken a place already.
type reserveLimit struct {
	Most    int64             `json:"max_pods"`
	Counted map[string]string `json:"counted_pods"`
	Taken   map[string]string `json:"taken_pods"`
}

type taint struct {
	Key, Value string
	Effect     string
}

type toleration struct {
	Key, Value string
	Operator   string
	Effect     string
}

const hostname = "kubernetes.io/hostname"

// nodeNames lists the nodes in their order, by the scores of a plugin if there are some.
func (g *groupCase) nodeNames() (names []string) {
	for _, n := range g.Input.Nodes {
		names = append(names, n.Name)
	}
	scores := g.Input.Options.NodeScores
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(scores[b], scores[a]) })
	return names
}

// restrict sets the nodes on which a waiting pod may run, by its node selector and the taints.
func (g *groupCase) restrict(of *workload.Pod, p *groupPod) {
	all := true
	for i := range g.Input.Nodes {
		if n := &g.Input.Nodes[i]; g.selects(p, n) && tolerates(p, n) {
			of.Nodes = append(of.Nodes, n.Name)
		} else {
			all = false
		}
	}
	if of.Nowhere = len(of.Nodes) == 0; all {
		of.Nodes = nil
	}
}

// selects reports whether the node selector of a pod selects a node. Each node has its name as a label.
func (g *groupCase) selects(p *groupPod, n *groupNode) bool {
	for key, value := range p.Selector {
		if n.Labels[key] != value && (key != hostname || n.Name != value) {
			return false
		}
	}
	return true
}

func tolerates(p *groupPod, n *groupNode) bool {
	return !slices.ContainsFunc(n.Taints, func(t taint) bool {
		tolerated := slices.ContainsFunc(p.Tolerations, func(o toleration) bool {
			return (o.Key == "" || o.Key == t.Key) && (o.Operator == "Exists" || o.Value == t.Value) && (o.Effect == "" || o.Effect == t.Effect)
		})
		return t.Effect != "PreferNoSchedule" && !tolerated
	})
}

// rules adds the rules of other plugins about places: conflicts, and resources that count pods. It says what it cannot add.
func (g *groupCase) rules(q *recorded.OnNodes) (story string) {
	const other = "asks with other rules of plugins about places"
	in := &g.Input
	counted := map[string]int64{}
	for i := range in.Waiting {
		p := &in.Waiting[i]
		if p.Affinity.Pods.Required != nil || p.Affinity.Nodes.Required != nil {
			return other
		}
		for _, s := range p.Spread {
			if g.countsPods(&s) {
				counted[spreadResource(&s)] = s.MaxSkew
			} else {
				return other
			}
		}
		for _, term := range p.Affinity.Anti.Required {
			if term.Key != hostname {
				return other
			}
			for _, o := range slices.Concat(in.Pods, in.Waiting) {
				if o.Name != p.Name && term.Selector.Matches(o.Labels) {
					q.Conflicts = append(q.Conflicts, []string{p.Name, o.Name})
				}
			}
		}
		for _, o := range slices.Concat(in.Pods, in.Waiting[:i]) {
			if sharePort(p, &o) {
				q.Conflicts = append(q.Conflicts, []string{p.Name, o.Name})
			}
		}
	}
	if limit := in.Options.ReserveLimit; limit != nil {
		counted[reserved] = limit.Most
	}
	for i := range q.State.Nodes {
		n := &q.State.Nodes[i]
		n.Capacity = maps.Clone(n.Capacity)
		maps.Copy(n.Capacity, counted)
	}
	for i := range q.State.Pods {
		q.State.Pods[i].Requests = g.requests(&in.Pods[i], false)
	}
	return ""
}

// countsPods reports whether a constraint permits so many pods on a node: with more domains to reach than there are nodes, the least
// that it compares with is none.
func (g *groupCase) countsPods(s *spread) bool {
	return s.Key == hostname && s.MinDomains > len(g.Input.Nodes) && s.When == "DoNotSchedule"
}

// The resources of rules that count pods.
const reserved = "reservations"

func spreadResource(s *spread) string { return fmt.Sprintf("spread of %v", s.Selector) }

// requests returns what a pod takes, with one of each resource that counts it.
func (g *groupCase) requests(p *groupPod, waits bool) workload.Resources {
	all := workload.Resources{}
	maps.Copy(all, p.Requests)
	maps.Copy(all, p.PodLevel.Requests)
	for i := range g.Input.Waiting {
		for _, s := range g.Input.Waiting[i].Spread {
			if s.Selector.Matches(p.Labels) {
				all[spreadResource(&s)] = 1
			}
		}
	}
	if limit := g.Input.Options.ReserveLimit; limit != nil && (waits && hasLabels(p, limit.Counted) || !waits && hasLabels(p, limit.Taken)) {
		all[reserved] = 1
	}
	return all
}

func hasLabels(p *groupPod, labels map[string]string) bool {
	selector := workload.LabelSelector{MatchLabels: labels}
	return len(labels) > 0 && selector.Matches(p.Labels)
}

// sharePort reports whether two pods want one port of their node.
func sharePort(a, b *groupPod) bool {
	for _, c := range a.Containers {
		for _, port := range c.Ports {
			for _, o := range b.Containers {
				for _, other := range o.Ports {
					if port.Host != 0 && port.Host == other.Host {
						return true
					}
				}
			}
		}
	}
	return false
}
