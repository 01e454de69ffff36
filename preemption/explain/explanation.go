package explain

import (
	"strconv"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Explanation says how a decision came about, and what would change it; see [Explain]. It is small in a cluster of any size: a few
// workloads are named and all are counted. Its JSON form round-trips.
type Explanation struct {
	// Decision is the one that [preemption.Preemptor.Decide] makes. Its Assignment has the flavors that were tried.
	Decision preemption.Decision `json:"decision"`
	// Steps are the request, the flavors, who may yield in each part of the cohort tree, what rules say, the searches with each candidate
	// that they take, the answer, and what would change it.
	Steps []Step `json:"steps"`
	// Ends says when rules of time end that keep workloads now.
	Ends []End `json:"ends,omitempty"`
	// Ways are changes that make the request succeed, each the smallest of its kind. Empty if it succeeds, or if nothing of what is
	// tried helps. They are the lines of the last step.
	Ways []Way `json:"ways,omitempty"`
}

// PlacementExplanation is an [Explanation] of a decision about nodes; see [ExplainPlacement].
type PlacementExplanation struct {
	Decision placement.Decision `json:"decision"`
	Steps    []Step             `json:"steps"`
	Ways     []Way              `json:"ways,omitempty"`
}

// Step is a part of an explanation. A page may show one after the other, and what each is about.
type Step struct {
	// Section is the heading under which the step stands; empty at the top of a page. Title, if the step has one, is what it is about.
	Section string   `json:"section,omitempty"`
	Title   string   `json:"title,omitempty"`
	Lines   []string `json:"lines,omitempty"`
	// Node is the queue or cohort that the step is about, as `cohort "research"`. Empty: none.
	Node string `json:"node,omitempty"`
	// MayYield and Kept are the workloads that the step names: those that no rule keeps from yielding, and the others.
	MayYield []string `json:"mayYield,omitempty"`
	Kept     []string `json:"kept,omitempty"`
	// Taken are the workloads that are taken after the step, in the order in which they were.
	Taken []string `json:"taken,omitempty"`
	// Indent is how far the lines stand from the left of a page, in columns. Zero: 2.
	Indent int `json:"indent,omitempty"`
}

// End says when a rule of time ends that keeps workloads in a part of the tree: for the first and for the last of them.
type End struct {
	Rule preemption.Rule `json:"rule"`
	Node string          `json:"node"`
	From time.Time       `json:"from"`
	Last time.Time       `json:"last"`
}

// Sections of an explanation.
const (
	whoMayYield  = "Who may yield"
	whatWasTried = "What was tried"
	whatIsBetter = "What is better"
	whatChanges  = "What would change the answer"
)

// Printer writes amounts, names and lines in another way than the functions of the package. The zero
// value writes as they do.
type Printer struct {
	// Amount writes an amount of a resource, as "288" for 288000 of cpu. Nil: the plain
	// number.
	Amount func(resource string, amount int64) string
	// Unit writes the name of what yields on nodes: a group or a pod. Nil: its ID.
	Unit func(id string) string
	// Width is the number of columns of a page. Zero: 80. Negative: as wide as needed.
	Width int
}

// amount writes an amount and what it is of; the flavor may be empty.
func (pr Printer) amount(n int64, of quota.FlavorResource) string {
	text := strconv.FormatInt(n, 10)
	if pr.Amount != nil {
		text = pr.Amount(of.Resource, n)
	}
	if of.Flavor != "" {
		return text + " " + of.Flavor + "/" + of.Resource
	}
	return text + " " + of.Resource
}

func (pr Printer) unit(id string) string {
	if pr.Unit != nil {
		return pr.Unit(id)
	}
	return id
}
