package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Validate returns everything that is wrong with configurations, as an error that lists each
// fault with its path ("configs[0].rules[2].candidateSelectors[1].scope"):
//   - an empty name of a configuration, or one that another has; more than [MaxRules] rules;
//   - a name of a rule that is no DNS label or that another rule of the configuration has; an
//     unknown trigger; more than [MaxSelectors] candidate selectors;
//   - an unknown or duplicate key of the ordering, an unknown direction;
//   - a bad selector: an unknown scope, mode or comparison; a mode without comparison, or the
//     reverse; what [workload.LabelSelector.Validate] finds; a numeric label without key, with
//     a value that does not have 32 bits, or with a minValue over its maxValue; an empty name
//     of a priority class; a negative duration, or a minimum over its maximum; an unknown
//     constraint on quota, or one with the scope WithinLocalQueue or WithinClusterQueue.
//
// A snapshot takes configurations with such faults, except those of [ValidateForm], because a
// cluster may hold them: a bad selector leaves the rules of its trigger, and those of later triggers,
// without candidates (Kueue as built).
func Validate(configs []Config) error {
	faults := listOf(ValidateForm("configs", configs))
	for i := range configs {
		path := fmt.Sprintf("configs[%d].rules", i)
		list := configs[i].Rules
		validateOrdering(&faults, fmt.Sprintf("configs[%d].ordering", i), configs[i].Ordering)
		firsts := make(map[string]int, min(len(list), MaxRules))
		for j := range list {
			path, r := fmt.Sprintf("%s[%d]", path, j), &list[j]
			first, taken := firsts[r.Name]
			switch {
			case !isLabel(r.Name):
				faults.Add(path+".name", "%q is no DNS label", r.Name)
			case taken:
				faults.Add(path+".name", "%q is also the name of rules[%d]", r.Name, first)
			default:
				firsts[r.Name] = j
			}
			if t := r.ActivationPolicy.Trigger; !slices.Contains(Triggers(), t) {
				faults.Add(path+".activationPolicy.trigger", "%q is none of %q", t, Triggers())
			}
			if d := r.ActivationPolicy.MinTriggerRequiredDuration.Or(0); d < 0 {
				faults.Add(path+".activationPolicy.minTriggerRequiredDuration", "%v is negative", d)
			}
			faults = append(faults, r.PreemptorFaults(path)...)
			faults = append(faults, r.CandidateFaults(path)...)
		}
	}
	return faults.Err()
}

// ValidateForm returns the faults that [New] refuses, as [Validate] does: empty and duplicate names of
// configurations, more than [MaxRules] rules, more than [MaxSelectors] candidate selectors of one; no
// cluster holds more. path is that of the list.
func ValidateForm(path string, configs []Config) error {
	var faults fault.List
	firsts := make(map[string]int, len(configs))
	for i := range configs {
		at, name, list := fmt.Sprintf("%s[%d]", path, i), configs[i].Name, configs[i].Rules
		if first, taken := firsts[name]; name == "" {
			faults.Add(at+".name", "is empty")
		} else if taken {
			faults.Add(at+".name", "%q is also the name of %s[%d]", name, path, first)
		} else {
			firsts[name] = i
		}
		if len(list) > MaxRules {
			faults.Add(at+".rules", "%d: more than %d", len(list), MaxRules)
		}
		for j := range list {
			if n := len(list[j].CandidateSelectors); n > MaxSelectors {
				faults.Add(fmt.Sprintf("%s.rules[%d].candidateSelectors", at, j), "%d: more than %d", n, MaxSelectors)
			}
		}
	}
	return faults.Err()
}

// isLabel reports whether a name is a DNS label: 1 to 63 lower-case letters, digits and, not
// at the ends, dashes (RFC 1123).
func isLabel(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' && i > 0 && i < len(name)-1) {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 63
}

// PreemptorFaults returns the faults of the selectors of preemptors.
func (r *Rule) PreemptorFaults(path string) (faults fault.List) {
	faults = listOf(r.PreemptorSelector.Validate(path + ".preemptorSelector"))
	r.PreemptorPriorityClass.validate(&faults, path+".preemptorPriorityClassSelector")
	return faults
}

// CandidateFaults returns the faults of the selectors of candidates.
func (r *Rule) CandidateFaults(path string) (faults fault.List) {
	for i := range r.CandidateSelectors {
		var found fault.List
		if r.CandidateSelectors[i].validate(&found, ""); len(found) > 0 { // building paths costs more than the check
			r.CandidateSelectors[i].validate(&faults, fmt.Sprintf("%s.candidateSelectors[%d]", path, i))
		}
	}
	return faults
}

func (s *CandidateSelector) validate(faults *fault.List, path string) {
	if !slices.Contains(Scopes(), s.Scope) {
		faults.Add(path+".scope", "%q is none of %q", s.Scope, Scopes())
	}
	for _, l := range [...]struct {
		field    string
		selector *workload.LabelSelector
	}{{".clusterQueueSelector", s.ClusterQueueSelector}, {".labelSelector", s.LabelSelector}} {
		*faults = append(*faults, listOf(l.selector.Validate(path+l.field))...)
	}
	for i := range s.NumericLabels {
		s.NumericLabels[i].validate(faults, fmt.Sprintf("%s.numericLabels[%d]", path, i))
	}
	s.Priority.validate(faults, path+".priority")
	s.Time.validate(faults, path+".time")
	s.Quota.validate(faults, path+".quota", s.Scope)
}

func (n *NumericLabel) validate(faults *fault.List, path string) {
	if n.Key == "" {
		faults.Add(path+".key", "is empty")
	}
	for _, v := range [...]struct {
		field string
		value quota.OptionalInt64
	}{{".fallbackValue", n.Fallback}, {".minValue", n.MinValue}, {".maxValue", n.MaxValue}} {
		if x := v.value.Or(0); x != int64(int32(x)) {
			faults.Add(path+v.field, "%d is not within %d and %d", x, math.MinInt32, math.MaxInt32)
		}
	}
	n.Comparison.validate(faults, path+".comparison")
	if least, most := n.MinValue.Or(math.MinInt32), n.MaxValue.Or(math.MaxInt32); least > most {
		faults.Add(path+".minValue", "%d is more than the maxValue %d", least, most)
	}
}

func (p *Priority) validate(faults *fault.List, path string) {
	switch {
	case (p.Mode == "") != (p.Comparison == ""):
		faults.Add(path, "has mode %q and comparison %q: both or none", p.Mode, p.Comparison)
	case p.Mode != "":
		if p.Mode != Base && p.Mode != Boosted {
			faults.Add(path+".mode", "%q is none of %q", p.Mode, []PriorityMode{Base, Boosted})
		}
		p.Comparison.validate(faults, path+".comparison")
	}
	if least, set := p.MinValue.Get(); set && least > p.MaxValue.Or(least) {
		faults.Add(path+".minValue", "%d is more than the maxValue %d", least, p.MaxValue.Or(least))
	}
	p.ClassSelector.validate(faults, path)
}

// validate finds an unknown comparison; empty is none.
func (c Comparison) validate(faults *fault.List, path string) {
	switch c {
	case "", LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual:
	default:
		faults.Add(path, "%q is none of %q", c, []Comparison{LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual})
	}
}

func (s *ClassSelector) validate(faults *fault.List, path string) {
	for _, l := range [...]struct {
		field string
		names []string
	}{{".matchNames", s.MatchNames}, {".notMatchNames", s.NotMatchNames}} {
		for i, name := range l.names {
			if name == "" {
				faults.Add(fmt.Sprintf("%s%s[%d]", path, l.field, i), "is empty")
			}
		}
	}
}

func listOf(err error) fault.List {
	list, _ := err.(fault.List)
	return list
}
