package workload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cedesched/cede/internal/base/fault"
)

// Validate returns everything that is wrong with the constraints, as an error that lists each
// fault with its path under the given one: an empty key, an unknown operator or effect,
// values that the operator does not take, a list longer than [MaxNodeConstraints], a topology
// that is asked for in two ways. Nil is valid.
func (c *NodeConstraints) Validate(path string) error {
	if c == nil {
		return nil
	}
	var faults fault.List
	values := 0
	for _, t := range c.NodeAffinity {
		values++
		for i := range t.MatchExpressions {
			values += max(1, len(t.MatchExpressions[i].Values))
		}
	}
	for _, n := range [...]struct {
		field string
		count int
	}{{".nodeSelector", len(c.NodeSelector)}, {".nodeAffinity", values}, {".tolerations", len(c.Tolerations)}} {
		if n.count > MaxNodeConstraints {
			faults.Add(path+n.field, "%d: more than %d", n.count, MaxNodeConstraints)
		}
	}
	if len(faults) > 0 {
		return faults
	}
	for _, key := range slices.Sorted(maps.Keys(c.NodeSelector)) {
		if key == "" {
			faults.Add(path+".nodeSelector", "has an empty key, with value %q", c.NodeSelector[key])
		}
	}
	for i := range c.NodeAffinity {
		for j := range c.NodeAffinity[i].MatchExpressions {
			c.NodeAffinity[i].MatchExpressions[j].validate(&faults, fmt.Sprintf("%s.nodeAffinity[%d].matchExpressions[%d]", path, i, j))
		}
	}
	for i := range c.Tolerations {
		c.Tolerations[i].validate(&faults, fmt.Sprintf("%s.tolerations[%d]", path, i))
	}
	c.Topology.validate(&faults, path+".topology")
	return faults.Err()
}

func (r *LabelRequirement) validate(faults *fault.List, path string) {
	if r.Key == "" {
		faults.Add(path+".key", "is empty")
	}
	n := len(r.Values)
	switch r.Operator {
	case In, NotIn:
		if n == 0 {
			faults.Add(path+".values", "is empty: %v needs one at least", r.Operator)
		}
	case Exists, DoesNotExist:
		if n > 0 {
			faults.Add(path+".values", "%q: %v takes none", r.Values, r.Operator)
		}
	case Gt, Lt:
		if n != 1 {
			faults.Add(path+".values", "%q: %v takes one integer", r.Values, r.Operator)
		} else if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			faults.Add(path+".values[0]", "%q is not an integer (%v)", r.Values[0], r.Operator)
		}
	default:
		faults.Add(path+".operator", "%v is unknown", r.Operator)
	}
}

// Validate returns everything that is wrong with the taint, as an error that lists each fault
// with its path under the given one: an empty key, an unset or unknown effect.
func (t *Taint) Validate(path string) error {
	var faults fault.List
	if t.Key == "" {
		faults.Add(path+".key", "is empty")
	}
	if t.Effect == 0 {
		faults.Add(path+".effect", "is not set")
	} else if !effectNames.Valid(t.Effect) {
		faults.Add(path+".effect", "%v is unknown", t.Effect)
	}
	return faults.Err()
}

// Validate returns everything that is wrong with the toleration, as an error that lists
// each fault with its path under the given one: an unknown operator or effect.
func (t *Toleration) Validate(path string) error {
	var faults fault.List
	t.validate(&faults, path)
	return faults.Err()
}

func (t *Toleration) validate(faults *fault.List, path string) {
	if !tolerationNames.Valid(t.Operator) {
		faults.Add(path+".operator", "%v is unknown", t.Operator)
	}
	if !effectNames.Valid(t.Effect) {
		faults.Add(path+".effect", "%v is unknown", t.Effect)
	}
}
