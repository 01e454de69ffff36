package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/verify"
	"github.com/cedesched/cede/workload"
)

// Departures from kube-scheduler, by name. Each is a predicate on the case.
const (
	TotalOrder      = "units alike in all but their ID are ordered by it"
	CountedReprieve = "a filter that counts its answers is not one"
)

// compareImportance asks which of two units comes first.
func (c *NodeCase) compareImportance(r *Report, s *placement.Snapshot) {
	first := s.Units()[0]
	e := excuse{}
	if a, b := *c.A, *c.B; a.Priority == b.Priority && a.Kind == b.Kind && a.Size == b.Size && a.UID == b.UID &&
		started(a.Start).Equal(started(b.Start)) {
		e = excuse{TotalOrder, []string{"true"}} // "a" comes before "b"
	}
	r.compareUnless(e, "a is more important", []string{fmt.Sprint(*c.Expect.AMoreImportant)},
		[]string{fmt.Sprint(strings.HasPrefix(first.Pods[0].ID, "a"))})
}

// compareSplit asks which units violate a budget.
func (c *NodeCase) compareSplit(r *Report, s *placement.Snapshot) {
	var want, got []string
	for i, pods := range c.Expect.Violating {
		want = append(want, fmt.Sprintf("%v violates %d", sorted(pods), c.Expect.Counts[i]))
	}
	for _, pods := range c.Expect.NonViolating {
		want = append(want, fmt.Sprintf("%v violates 0", sorted(pods)))
	}
	for _, p := range s.PotentialVictims(1 << 30) {
		got = append(got, fmt.Sprintf("%v violates %d", ids(p.Pods), p.Violations))
	}
	r.compare("units by budget", sorted(want), sorted(got))
}

// compareOrder asks for the potential victims in their order.
func (c *NodeCase) compareOrder(r *Report, s *placement.Snapshot) {
	var want, got []string
	for _, p := range c.Expect.LeastImportant {
		want = append(want, fmt.Sprintf("%v violates %d", sorted(p.Pods), p.Violations))
	}
	for _, p := range slices.Backward(s.PotentialVictims(c.Preemptor.Priority)) {
		got = append(got, fmt.Sprintf("%v violates %d", ids(p.Pods), p.Violations))
	}
	r.compare("victims, the least important first", want, got)
}

func (c *NodeCase) compareUnits(r *Report, s *placement.Snapshot) {
	var want, got []string
	for _, u := range c.Expect.Units {
		want = append(want, fmt.Sprintf("%v on %v priority %d", sorted(u.Pods), sorted(u.Nodes), u.Priority))
	}
	for _, u := range s.Units() {
		var nodes []string
		for _, p := range u.Pods {
			nodes = append(nodes, p.Node)
		}
		got = append(got, fmt.Sprintf("%v on %v priority %d", ids(u.Pods), slices.Compact(sorted(nodes)), u.Priority))
	}
	r.compare("units", sorted(want), sorted(got))
}

// compareDecision asks for preemption, and for the candidates if the case gives them.
func (c *NodeCase) compareDecision(r *Report, s *placement.Snapshot) error {
	p, err := placement.New(c.config())
	if err != nil {
		return fmt.Errorf("case %q: %w", c.Name, err)
	}
	d, err := p.Decide(s, c.request())
	if err != nil {
		return fmt.Errorf("case %q: %w", c.Name, err)
	}
	departure := ""
	if c.Options.MaxReprieves != nil && verify.Placement(c.state(), c.request(), c.config(), d) == nil {
		departure = CountedReprieve
	}
	compare := func(what string, want, got []string) { r.compareUnless(excuse{departure, got}, what, want, got) }
	expect := &c.Expect
	if expect.Eligible != nil {
		eligible := d.Outcome != preemption.Wait && d.Reason != placement.ReasonPolicyNever
		compare("eligible", []string{fmt.Sprint(*expect.Eligible)}, []string{fmt.Sprint(eligible)})
		return nil
	}
	compare("outcome", []string{expect.Outcome}, []string{outcome(d, expect.Outcome)})
	victims := victimPods(d.Victims)
	if expect.has["victims"] {
		compare("victims", sorted(expect.Victims), victims)
	}
	if expect.has["victim_count"] {
		among := slices.DeleteFunc(slices.Clone(victims), func(id string) bool { return !slices.Contains(expect.VictimsOneOf, id) })
		compare("number of victims", []string{fmt.Sprint(expect.VictimCount)}, []string{fmt.Sprint(len(among))})
		compare("victims", among, victims)
	}
	if expect.has["node"] {
		compare("node", []string{expect.Node}, []string{d.Domain})
	}
	if expect.has["node_any_of"] && !slices.Contains(expect.NodeAnyOf, d.Domain) {
		compare("node, one of", sorted(expect.NodeAnyOf), []string{d.Domain})
	}
	if expect.Violations != nil {
		compare("violations", []string{fmt.Sprint(*expect.Violations)}, []string{fmt.Sprint(d.Violations)})
	}
	if expect.has["candidates"] {
		return c.compareCandidates(r, p, s)
	}
	return nil
}

func (c *NodeCase) compareCandidates(r *Report, p *placement.Preemptor, s *placement.Snapshot) error {
	list, err := p.Placements(s, c.request())
	if err != nil {
		return fmt.Errorf("case %q: %w", c.Name, err)
	}
	var want, got []string
	for _, w := range c.Expect.Candidates {
		want = append(want, fmt.Sprintf("%s: %v violates %d", w.Node, sorted(w.Victims), w.Violations))
	}
	for _, g := range list {
		got = append(got, fmt.Sprintf("%s: %v violates %d", g.Domain, victimPods(g.Victims), g.Violations))
	}
	r.compare("candidates", sorted(want), sorted(got))
	return nil
}

// outcome returns kube-scheduler's word for a decision. It has no word of its own for a success
// without victims, and does not always say why preemption is impossible.
func outcome(d placement.Decision, want string) string {
	switch {
	case d.Outcome == preemption.Preempt, d.Outcome == preemption.Fits:
		return "preempt"
	case d.Outcome == preemption.Wait:
		return "waiting"
	case d.Reason == placement.ReasonPolicyNever:
		return "not_eligible"
	case d.Reason == placement.ReasonNoVictims && want == "no_victims":
		return "no_victims"
	}
	return "unschedulable"
}

func victimPods(victims []placement.Victim) []string {
	list := []string{}
	for _, v := range victims {
		list = append(list, v.Pods...)
	}
	return sorted(list)
}

func ids(pods []workload.Pod) []string {
	list := []string{}
	for _, p := range pods {
		list = append(list, p.ID)
	}
	return sorted(list)
}

func sorted(list []string) []string {
	list = append([]string{}, list...)
	slices.Sort(list)
	return list
}
