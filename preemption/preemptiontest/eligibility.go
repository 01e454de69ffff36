package preemptiontest

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// eligibility gives labels and taints to the flavors of half of the records, and constraints
// to two of three of their pod sets. Mostly one of the flavors is eligible; otherwise few
// requests would be decided.
func eligibility(t *rapid.T, r *preemption.Record) {
	if !chance(t, 1, 2) {
		return
	}
	r.State.Flavors = flavorsOf(t)
	home := &r.State.Flavors[rapid.IntRange(0, min(1, len(r.State.Flavors)-1)).Draw(t, "home")]
	home.NodeTaints = nil
	inTopology := chance(t, 1, 4)
	if inTopology {
		topologies(t, r.State.Flavors)
		if home.Topology.Name != "" {
			home.Topology.Levels = treeLevels
		}
	}
	for i := range r.Request.Workload.PodSets {
		if !chance(t, 2, 3) {
			continue
		}
		c := nodeConstraints(t)
		if inTopology && chance(t, 3, 4) {
			c.Topology = topologyRequest(t)
		}
		if !chance(t, 1, 12) {
			leadTo(home, c)
		}
		r.Request.Workload.PodSets[i].NodeConstraints = c
	}
}

var treeLevels = []string{"block", "rack", "host"}

// topologies gives a topology to most flavors, or to all.
func topologies(t *rapid.T, flavors []queue.Flavor) {
	all := chance(t, 1, 3)
	for i := range flavors {
		if all || chance(t, 2, 3) {
			flavors[i].Topology = queue.Topology{Name: "tree", Levels: treeLevels[:pick(t, "levels", 1, 1, 2, 3)]}
		}
	}
}

// topologyRequest draws from the levels that [topologies] draws from, and one that is in none.
func topologyRequest(t *rapid.T) (r workload.TopologyRequest) {
	level := pick(t, "level", "block", "block", "rack", "host", "row")
	switch pick(t, "topology", 0, 0, 1, 1, 2, 3) {
	case 0:
		r.Required = level
	case 1:
		r.Preferred = level
	case 2:
		r.Unconstrained = true
	}
	if r.IsZero() || chance(t, 1, 6) {
		r.SliceRequired = pick(t, "slice level", "block", "rack", "host")
	}
	return r
}

// leadTo removes the constraints that the labels of a flavor do not satisfy.
func leadTo(f *queue.Flavor, c *workload.NodeConstraints) {
	if c.Topology.MissingFrom(f.Topology.Levels) != "" || f.Topology.Name == "" {
		c.Topology = workload.TopologyRequest{Unconstrained: f.Topology.Name != ""}
	}
	maps.DeleteFunc(c.NodeSelector, func(key, value string) bool { return f.NodeLabels[key] != value && key != "hostname" })
	for i := range c.NodeAffinity {
		e := &c.NodeAffinity[i].MatchExpressions
		*e = slices.DeleteFunc(*e, func(r workload.LabelRequirement) bool {
			return i == len(c.NodeAffinity)-1 && !r.Matches(f.NodeLabels) && r.Key != "hostname"
		})
	}
}

// flavorsOf draws labels and taints for some of the flavors that [manyFlavors] draws from.
func flavorsOf(t *rapid.T) (flavors []queue.Flavor) {
	for i, name := range []string{"spot", "reserved", "burst", "a100", "h100", "unused"} {
		if i > 0 && chance(t, 1, 4) {
			continue
		}
		f := queue.Flavor{Name: name}
		for _, key := range []string{"zone", "size", "kind"} {
			if chance(t, 2, 3) {
				if f.NodeLabels == nil {
					f.NodeLabels = map[string]string{}
				}
				f.NodeLabels[key] = pick(t, "label", "1", "2", "many")
			}
		}
		for range pick(t, "taints", 0, 0, 0, 1) {
			f.NodeTaints = append(f.NodeTaints, workload.Taint{
				Key: pick(t, "taint", "dedicated", "spot"), Value: pick(t, "taint value", "", "a", "b"),
				Effect: pick(t, "effect", workload.NoSchedule, workload.NoExecute, workload.PreferNoSchedule),
			})
		}
		if chance(t, 1, 3) {
			f.Tolerations = tolerations(t)
		}
		flavors = append(flavors, f)
	}
	return flavors
}

func tolerations(t *rapid.T) []workload.Toleration {
	var list []workload.Toleration
	for range pick(t, "tolerations", 0, 1, 1, 2) {
		list = append(list, workload.Toleration{
			Key: pick(t, "toleration", "dedicated", "spot", "dedicated", ""), Value: pick(t, "tolerated value", "", "a", "b"),
			Operator: pick(t, "toleration operator", workload.TolerationEqual, workload.TolerationExists),
			Effect:   pick(t, "tolerated effect", 0, workload.NoSchedule, workload.NoExecute),
		})
	}
	return list
}

// nodeConstraints draws from the labels and taints that [flavorsOf] draws from, and a label
// that no flavor has.
func nodeConstraints(t *rapid.T) *workload.NodeConstraints {
	keys := []string{"zone", "size", "kind", "hostname"}
	values := []string{"1", "2", "many", "9223372036854775807"}
	c := &workload.NodeConstraints{Tolerations: tolerations(t)}
	if chance(t, 1, 2) {
		c.NodeSelector = map[string]string{pick(t, "selected", keys...): pick(t, "selected value", values...)}
	}
	for range pick(t, "terms", 0, 1, 1, 2) {
		var term workload.NodeSelectorTerm
		for range pick(t, "expressions", 1, 1, 2, 0) {
			r := workload.LabelRequirement{
				Key: pick(t, "key", keys...),
				Operator: pick(t, "operator", workload.In, workload.NotIn, workload.Exists, workload.DoesNotExist, workload.Gt,
					workload.Lt),
			}
			switch r.Operator {
			case workload.In, workload.NotIn:
				for range pick(t, "values", 1, 2) {
					r.Values = append(r.Values, pick(t, "value", values...))
				}
			case workload.Gt, workload.Lt:
				r.Values = []string{pick(t, "bound", "0", "1", "2", "-1")}
			}
			term.MatchExpressions = append(term.MatchExpressions, r)
		}
		c.NodeAffinity = append(c.NodeAffinity, term)
	}
	return c
}
