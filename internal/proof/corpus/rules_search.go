package corpus

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
)

// question returns the case's preemptor, snapshot and request, and the names of the rules.
func (c *RuleCase) question() (p *preemption.Preemptor, s *preemption.Snapshot, r preemption.Request, names map[string][]string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("case %q: %w", c.Name, err)
		}
	}()
	config, err := c.config()
	if err != nil {
		return nil, nil, r, nil, err
	}
	if p, err = preemption.New(config); err != nil {
		return nil, nil, r, nil, err
	}
	st := c.state()
	if c.Settings.Gates["ConfigurablePreemptions"] {
		if st.Rules, names, err = c.configs(); err != nil {
			return nil, nil, r, nil, err
		}
	}
	if s, err = preemption.NewSnapshot(st); err != nil {
		return nil, nil, r, nil, err
	}
	r = preemption.Request{Workload: c.workload(&c.Incoming), Now: c.Settings.Now}
	if c.anyInOwnQueue() {
		r.Workload.Queued = c.Settings.Now // times that are not set, as those of the others, are later
	}
	for _, a := range c.Incoming.Requests {
		r.NeedsPreemption = append(r.NeedsPreemption, a.FlavorResource())
	}
	if room := c.room(); room != nil {
		r.Room = room
	}
	return p, s, r, names, nil
}

// checkOracle asks what preemption by policies and rules can do for one amount.
func (c *RuleCase) checkOracle() (r Report, err error) {
	p, s, request, _, err := c.question()
	if err != nil {
		return r, err
	}
	for _, o := range c.Want.Oracle {
		f, err := p.Forecast(s, request, o.Amount)
		if err != nil {
			return r, fmt.Errorf("case %q: %w", c.Name, err)
		}
		r.compare("possibility", []string{o.Possibility}, []string{f.Possibility.String()})
	}
	return r, nil
}

// checkSearch asks for the victims by policies and rules.
func (c *RuleCase) checkSearch() (r Report, err error) {
	p, s, request, names, err := c.question()
	if err != nil {
		return r, err
	}
	d, err := p.Decide(s, request)
	if err != nil {
		return r, fmt.Errorf("case %q: %w", c.Name, err)
	}
	var want, got []string
	unasserted := map[string]bool{} // whose cause is
	for _, v := range c.Want.Victims {
		of := ruleCandidate{Name: v.Name + " " + v.Reason}
		if v.Cause != nil {
			of.Name, of.Rules = of.Name+" "+v.Cause.Config, v.Cause.Rules
		} else {
			unasserted[v.Name] = true
		}
		want = append(want, of.text())
	}
	for _, v := range d.Victims {
		of := ruleCandidate{v.Workload + " " + v.Reason.String(), map[string][]int{}}
		for i, by := range v.Rules {
			if by.Trigger != v.Rules[0].Trigger || unasserted[v.Workload] {
				break // Kueue names those of one tier
			}
			if i == 0 {
				of.Name += " " + by.Config
			}
			of.Rules[originalName(names[by.Config], by.Rule)] = by.Selectors
		}
		got = append(got, of.text())
	}
	slices.Sort(want)
	slices.Sort(got)
	r.compare("victims", want, got)
	return r, nil
}

// originalName returns the name that a rule had in the case: one whose name occurred before was
// renamed.
func originalName(names []string, name string) string {
	for i, n := range names {
		if name == renamed(n, i) {
			return n
		}
	}
	return name
}

// ruleRoom is the room of a case on its nodes, by topology level. It keeps Room's laws: what is
// free on a node never falls when a workload is removed.
type ruleRoom struct {
	c    *RuleCase
	gone map[string]bool
}

// room returns the room of a case with nodes and a topology request; else nil.
func (c *RuleCase) room() preemption.Room {
	if len(c.Nodes) == 0 || len(c.Incoming.PodSets) == 0 {
		return nil
	}
	return &ruleRoom{c, map[string]bool{}}
}

func (r *ruleRoom) Remove(id string)  { r.gone[id] = true }
func (r *ruleRoom) Restore(id string) { delete(r.gone, id) }

// Fits reports whether each pod set has a place: for a required level in one domain of that
// level. Cases with a topology request have one pod set.
func (r *ruleRoom) Fits() bool {
	for i := range r.c.Incoming.PodSets {
		p := &r.c.Incoming.PodSets[i]
		fit := map[string]int64{} // pods, by domain
		for _, n := range r.c.Nodes {
			if !r.eligible(&n, p) {
				continue
			}
			fit[n.Labels[p.TopologyRequest.Required]] += r.podsOn(&n, p)
		}
		most := int64(0)
		for _, pods := range fit {
			most = max(most, pods)
		}
		if most < p.Count {
			return false
		}
	}
	return true
}

// eligible reports whether a node has the labels that the flavors and the pod set ask for.
func (r *ruleRoom) eligible(n *ruleNode, p *rulePodSet) bool {
	for key, value := range p.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	for _, a := range r.c.Incoming.Requests {
		for _, f := range r.c.Flavors {
			for key, value := range f.NodeLabels {
				if f.Name == a.Flavor && n.Labels[key] != value {
					return false
				}
			}
		}
	}
	return true
}

// podsOn returns how many pods of a pod set a node has room for.
func (r *ruleRoom) podsOn(n *ruleNode, p *rulePodSet) int64 {
	free := map[string]int64{}
	for _, a := range n.Allocatable {
		free[a.Resource] = a.Amount
	}
	for i := range r.c.Admitted {
		w := &r.c.Admitted[i]
		for j := range w.PodSets {
			for _, d := range w.PodSets[j].Domains {
				here := !r.gone[w.Name]
				for k, level := range d.Levels {
					here = here && n.Labels[level] == d.Values[k]
				}
				if here {
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
