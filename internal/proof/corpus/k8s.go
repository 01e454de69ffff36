package corpus

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// NodeCase is a decision about room on nodes, from the tests of kube-scheduler or worked
// out from KEP-5710.
type NodeCase struct {
	Name      string            `json:"id"`
	Suite     string            `json:"suite"`
	Era       string            `json:"era"`
	Nodes     []nodeOf          `json:"nodes"`
	Pods      []podOf           `json:"pods"`
	Groups    []groupOf         `json:"groups"`
	Budgets   []budgetOf        `json:"pdbs"`
	Conflicts [][]string        `json:"conflicts"`
	Preemptor *preemptorOf      `json:"preemptor"`
	Units     [][]string        `json:"units"`
	A         *unitFacts        `json:"a"`
	B         *unitFacts        `json:"b"`
	Options   nodeOptions       `json:"options"`
	Expect    nodeExpect        `json:"expect"`
	Derived   map[string]answer `json:"derived"`
}

type nodeOf struct {
	Name         string             `json:"name"`
	Capacity     workload.Resources `json:"capacity"`
	Unresolvable bool               `json:"unresolvable"`
}

type podOf struct {
	Name          string             `json:"name"`
	Namespace     string             `json:"namespace"`
	Node          string             `json:"node"`
	Group         string             `json:"group"`
	Priority      int32              `json:"priority"`
	Requests      workload.Resources `json:"requests"`
	Labels        map[string]string  `json:"labels"`
	Start         *int64             `json:"start"`
	Terminating   bool               `json:"terminating"`
	Preempted     bool               `json:"preempted"`
	Protected     bool               `json:"protected"`
	Policy        string             `json:"policy"`
	EligibleNodes []string           `json:"eligible_nodes"`
	NominatedNode string             `json:"nominated_node"`
}

type groupOf struct {
	Name     string `json:"name"`
	Priority *int32 `json:"priority"`
	Mode     string `json:"mode"`
}

type budgetOf struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Selector  map[string]string `json:"selector"`
	Allowed   int64             `json:"allowed"`
	Disrupted []string          `json:"disrupted"`
}

type preemptorOf struct {
	Kind     string  `json:"kind"`
	Name     string  `json:"name"`
	Priority int32   `json:"priority"`
	Policy   string  `json:"policy"`
	MinCount *int    `json:"min_count"`
	Pods     []podOf `json:"pods"`
}

// unitFacts is a unit in the suite of importance.
type unitFacts struct {
	Priority int32  `json:"priority"`
	Kind     string `json:"kind"`
	Size     int    `json:"size"`
	Start    *int64 `json:"start"`
	UID      string `json:"uid"`
}

type nodeOptions struct {
	Mode           string   `json:"mode"`
	Placement      string   `json:"placement"`
	NodePreference []string `json:"node_preference"`
	Importance     string   `json:"importance"`
	Offset         int      `json:"offset"`
	NumCandidates  int      `json:"num_candidates"`
	MaxReprieves   *int     `json:"max_reprieves"`
	Sampling       *struct {
		Percent  int `json:"percent"`
		Absolute int `json:"absolute"`
	} `json:"sampling"`
}

type nodeExpect struct {
	answer
	Node           string          `json:"node"`
	NodeAnyOf      []string        `json:"node_any_of"`
	VictimCount    int             `json:"victim_count"`
	VictimsOneOf   []string        `json:"victims_one_of"`
	Violations     *int            `json:"pdb_violations"`
	Candidates     []candidateOf   `json:"candidates"`
	Eligible       *bool           `json:"eligible"`
	AMoreImportant *bool           `json:"a_more_important"`
	Violating      [][]string      `json:"violating"`
	Counts         []int           `json:"counts"`
	NonViolating   [][]string      `json:"non_violating"`
	LeastImportant []potentialOf   `json:"least_to_most_important"`
	Units          []unitOf        `json:"units"`
	has            map[string]bool // the keys that the line has
}

// answer is an outcome with its victims.
type answer struct {
	Outcome   string            `json:"outcome"`
	Victims   []string          `json:"victims"`
	Placement map[string]string `json:"placement"`
}

type candidateOf struct {
	Node       string   `json:"node"`
	Victims    []string `json:"victims"`
	Violations int      `json:"pdb_violations"`
}

type potentialOf struct {
	Pods       []string `json:"pods"`
	Violations int      `json:"pdb_violations"`
}

type unitOf struct {
	Pods     []string `json:"pods"`
	Nodes    []string `json:"nodes"`
	Priority int32    `json:"priority"`
}

// UnmarshalJSON notes which answers are given: an empty answer is one, too.
func (e *nodeExpect) UnmarshalJSON(data []byte) error {
	type plain nodeExpect
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, (*plain)(e)); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	e.has = map[string]bool{}
	for key := range keys {
		e.has[key] = true
	}
	return nil
}

// ID returns the case's name.
func (c *NodeCase) ID() string { return c.Name }

var nodeSuites = []string{"pod", "group", "group_integration", "importance", "pdb_split", "victim_order", "victim_units", "eligibility"}

// maxUnit bounds the pods of a unit that a case gives by its size.
const maxUnit = 10_000

func (c *NodeCase) check() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("no case: it has no id")
	case !slices.Contains(nodeSuites, c.Suite):
		return fmt.Errorf("case %q: unknown suite %q", c.Name, c.Suite)
	case c.Suite == "importance" && (c.A == nil || c.B == nil || c.Expect.AMoreImportant == nil):
		return fmt.Errorf("case %q: a or b is missing, or the answer", c.Name)
	case c.A != nil && c.A.Size > maxUnit || c.B != nil && c.B.Size > maxUnit:
		return fmt.Errorf("case %q: a unit of more than %d pods", c.Name, maxUnit)
	case len(c.Expect.Violating) != len(c.Expect.Counts):
		return fmt.Errorf("case %q: %d violating units with %d counts", c.Name, len(c.Expect.Violating), len(c.Expect.Counts))
	case slices.Contains([]string{"pod", "group", "group_integration", "eligibility", "victim_order"}, c.Suite) && c.Preemptor == nil:
		return fmt.Errorf("case %q: no preemptor", c.Name)
	}
	for _, pair := range c.Conflicts {
		if len(pair) != 2 && len(pair) != 3 {
			return fmt.Errorf("case %q: a conflict is of 2 pods, with or without a word on where, not %q", c.Name, pair)
		}
	}
	if _, known := modes[c.Options.Mode]; !known {
		return fmt.Errorf("case %q: unknown mode %q", c.Name, c.Options.Mode)
	}
	return nil
}

// Check asks the case and compares all that it expects.
func (c *NodeCase) Check(*preemption.Preemptor) (Report, error) {
	snapshot, err := placement.NewSnapshot(c.state())
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	var r Report
	switch c.Suite {
	case "importance":
		c.compareImportance(&r, snapshot)
	case "pdb_split":
		c.compareSplit(&r, snapshot)
	case "victim_order":
		c.compareOrder(&r, snapshot)
	case "victim_units":
		c.compareUnits(&r, snapshot)
	default:
		err = c.compareDecision(&r, snapshot)
	}
	return r, err
}
