package suite

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/engine/trace"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// These make a preemptor record its steps.
type (
	quotaNotebook struct {
		preemption.Guard
		*trace.Recorder
	}
	nodesNotebook struct {
		placement.Guard
		*trace.Recorder
	}
)

// reaches lists what the answer to a case comes about by: the steps of the decision as the engine traces them, and the constants that
// the answer has.
func reaches(c *Case) []string {
	seen := map[string]bool{}
	add := func(kind string, of any) { seen[fmt.Sprintf("%s %v", kind, of)] = true }
	step := func(s *trace.Step) {
		add("step", s.Kind)
		if s.Rule != 0 {
			add("rule", s.Rule)
		}
		if s.Right != 0 {
			add("right", rights[s.Right])
		}
		if s.Class != 0 {
			add("class", classes[s.Class])
		}
		if s.Bound != 0 {
			add("bound", bounds[s.Bound])
		}
		if s.Strategy != 0 {
			add("strategy", strategies[s.Strategy])
		}
		if s.Found != 0 {
			add("found", founds[s.Found])
		}
		if s.Second {
			add("second", s.Kind)
		}
	}
	recorder := &trace.Recorder{Survey: true, To: step}
	switch c.Form {
	case Decide:
		var q DecideQuestion
		must(strict(c.Question, &q))
		p, s, r, err := q.ready()
		must(err)
		config := p.Config()
		config.Guards = append(config.Guards, quotaNotebook{Recorder: recorder})
		p, err = preemption.New(config)
		must(err)
		_, err = p.Decide(s, r)
		must(err)
	case Place:
		var q PlaceQuestion
		must(strict(c.Question, &q))
		p, s, err := q.ready()
		must(err)
		config := p.Config()
		config.Guards = append(config.Guards, nodesNotebook{Recorder: recorder})
		p, err = placement.New(config)
		must(err)
		_, err = p.Decide(s, q.Request)
		must(err)
	}
	v, err := value(c.Answer)
	must(err)
	paths(v, "", func(path string) {
		if m := constant.FindStringSubmatch(path); m != nil {
			seen[strings.ReplaceAll(m[1], ".", " ")+" "+m[2]] = true
		} else if name, _, _ := strings.Cut(path, "="); !strings.Contains(name, "admitted") && strings.Count(name, ".") < 2 {
			seen["answer "+name] = true
		}
	})
	w, err := value(c.Question)
	must(err)
	paths(w, "", func(path string) {
		if m := asked.FindStringSubmatch(path); m != nil {
			seen["asked "+m[1]+" "+m[2]] = true
		}
	})
	if c.Form == Orchestrate {
		q := OrchestrateQuestion{Config: &gate.Config{}}
		must(strict(c.Question, &q))
		for _, r := range q.Replicas {
			_, open := r.Gates.OpenSince(gate.MultiKueue)
			seen[fmt.Sprintf("replica %v, open %t, signals %t, names the gate %t", r.Progress, open, r.Gates.Blocked.Signals(), len(r.Gates.Names) > 0)] = true
		}
		seen[fmt.Sprintf("order %v, grace %t", q.Config.Order, q.Config.Grace > 0)] = true
		for i, a := range q.Replicas {
			for _, b := range q.Replicas[:i] {
				if a.Gates.Blocked.Signals() && a.Gates.Blocked.Since.Equal(b.Gates.Blocked.Since) {
					seen[fmt.Sprintf("order %v, equal signals, equal offers %t, the later name first %t, opens %t",
						q.Config.Order, a.Offer == b.Offer, a.Name < b.Name, len(c.Answer) > 0 && bytes.Contains(c.Answer, []byte(`"Open":"`+a.Name)))] = true
				}
				if a.Offer.Lost != b.Offer.Lost {
					seen[fmt.Sprintf("order %v, another is lost", q.Config.Order)] = true
				}
			}
		}
		seen[fmt.Sprintf("%d replicas", len(q.Replicas))] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

var (
	constant = regexp.MustCompile(`((?:^|victims\.|blockers\.|levels\.|ways\.|attempts\.|kept\.|heads\.|refuses\.|tried\.|resources\.|domains\.)(?:outcome|reason|rule|kind|right|hopeless|search|mode|possibility|part|skipped|trigger))=([A-Za-z]+)$`)
	asked    = regexp.MustCompile(`(scope|quota|trigger|comparison|operator|withinClusterQueue|reclaimWithinCohort|Strategies|Mode|Order|Budgets|Charge|policy|disruptionMode|Progress|direction|key)=([A-Za-z]+)$`)

	// The names of constants of package trace that have no texts.
	rights     = []string{"", "InQueue", "Reclaimed", "ReclaimedWhileBorrowing", "TimeIsOver", "ByShares", "ByRules"}
	classes    = []string{"", "Hierarchical", "Priority", "Own"}
	bounds     = []string{"", "Potential", "InReach", "InNeed", "InTree"}
	strategies = []string{"", "FinalShare", "InitialShare"}
	founds     = []string{"", "NoVictims", "NoRoom", "Budgets", "Victims"}
)

// tracedBy lists all that the traces of decisions can tell.
func tracedBy() (all []string) {
	for kind := trace.Asked; kind <= trace.Chosen; kind++ {
		all = append(all, fmt.Sprintf("step %v", kind))
	}
	for rule := trace.WithinClusterQueue; rule <= trace.Unstable; rule++ {
		all = append(all, fmt.Sprintf("rule %v", rule))
	}
	for name, list := range map[string][]string{"right": rights, "class": classes, "bound": bounds, "strategy": strategies, "found": founds} {
		for _, of := range list[1:] {
			all = append(all, name+" "+of)
		}
	}
	slices.Sort(all)
	return all
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
