package serve

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/lint"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/preemption/settle"
)

// Verbs answer about the cluster as the verbs of whatif do with -o json, each with parameters of its own. Nil: it is not answered.
type Verbs struct {
	Ask    func(context.Context, *AskAsked) (any, error)
	Next   func(context.Context, *NextAsked) (any, error)
	Lint   func(context.Context, *LintAsked) (any, error)
	Diff   func(context.Context, *DiffAsked) (any, error)
	Settle func(context.Context, *SettleAsked) (any, error)
	Drain  func(context.Context, *DrainAsked) (any, error)
	Safe   func(context.Context, *SafeAsked) (any, error)
}

// AskAsked describes a new workload. The answer is [Why].
type AskAsked struct {
	Request  string `json:"request" need:"true" about:"what one replica takes: RESOURCE=QUANTITY,..., as in cpu=4,nvidia.com/gpu=8"`
	Queue    string `json:"queue" need:"true" about:"its queue; NAMESPACE/NAME for a local queue"`
	Priority int64  `json:"priority" about:"its priority; absent: 0"`
	Count    int64  `json:"count" about:"how many replicas; absent: 1"`
	Flavor   string `json:"flavor" about:"take these flavors instead of choosing"`
}

// Changes are changes of what may be used, before the question.
type Changes struct {
	Quota  []string `json:"quota" about:"another quota: QUEUE:FLAVOR:RESOURCE=QUANTITY, or a cohort's; with :borrowingLimit or :lendingLimit behind it a limit, or none"`
	Policy []string `json:"policy" about:"another policy: QUEUE:POLICY=VALUE, as in vision:reclaimWithinCohort=Any"`
}

// NextAsked asks for the next admission cycles. The answer is [Next].
type NextAsked struct {
	Queue     string `json:"queue" about:"only workloads of this queue"`
	Namespace string `json:"namespace" about:"only workloads of this namespace"`
	Cycles    int    `json:"cycles" about:"how many cycles at most; absent: 5"`
	Changes
}

// Next is what the next admission cycles do.
type Next struct {
	Now     time.Time `json:"now"`
	Cycles  int       `json:"cycles"` // how many were run
	Ends    bool      `json:"ends"`   // after them nothing changes before an event
	Heads   []Step    `json:"heads"`
	Held    []string  `json:"held,omitempty"`    // workloads that are not considered
	Unknown []string  `json:"unknown,omitempty"` // workloads about which nothing is known for sure; no cycle tries them
	Placed  []string  `json:"placed,omitempty"`  // workloads that need room on nodes; no cycle tries them
	Notes   []string  `json:"notes"`
}

// Step is what a cycle does about one head. A head about which a cycle says the same as the one before is not repeated.
type Step struct {
	Cycle    int               `json:"cycle"`
	At       time.Time         `json:"at"`
	Workload string            `json:"workload"`
	Queue    string            `json:"queue"`
	Outcome  cycle.HeadOutcome `json:"outcome"`
	Words    string            `json:"words"`
	Victims  []string          `json:"victims,omitempty"`
	Leaving  []string          `json:"leaving,omitempty"` // the victims that were told to leave before
	Took     []string          `json:"took,omitempty"`    // who got the room that it lacks, in these cycles
	// VictimPods are the pods that yield, of KAI.
	VictimPods []string  `json:"victimPods,omitempty"`
	RetryAt    time.Time `json:"retryAt,omitzero"`
}

// LintAsked asks what will hurt in the configuration. The answer is [Linted].
type LintAsked struct {
	Rule []string `json:"rule" about:"only this rule"`
}

// Linted is what will hurt.
type Linted struct {
	Findings []lint.Finding `json:"findings"`
	Notes    []string       `json:"notes"`
}

// DiffAsked asks which answers change. At least one change has to be given. The answer is [Diff].
type DiffAsked struct {
	Changes
	Priority []string `json:"priority" about:"another priority of a workload: NAMESPACE/NAME=N"`
}

// Diff is which answers change.
type Diff struct {
	Now    time.Time `json:"now"`
	Change []DiffRow `json:"changes"`
	// Evicted are workloads that run and would be told to leave after the change, for one of those that wait, and would not before it.
	Evicted []string `json:"evicted"`
	Same    int      `json:"same"` // how many answers stay as they are
	// Settlement says who has to leave after the change, if usage is to be within what is allowed, also those who have to before it;
	// absent: nothing has to.
	Settlement *settle.Answer `json:"settlement,omitempty"`
	Notes      []string       `json:"notes"`
}

// DiffRow is a workload with another answer.
type DiffRow struct {
	Workload string         `json:"workload"`
	Queue    string         `json:"queue"`
	Change   string         `json:"change"` // better, worse or other
	Before   *answers.Short `json:"before"` // null: it is not in that state
	After    *answers.Short `json:"after"`
}

// SettleAsked asks who has to leave. The answer is [Settled].
type SettleAsked struct {
	Quota []string `json:"quota" about:"after another quota: QUEUE:FLAVOR:RESOURCE=QUANTITY; absent: as it is"`
}

// Settled is who has to leave.
type Settled struct {
	Now        time.Time     `json:"now"`
	Settlement settle.Answer `json:"settlement"`
	Doubts     []string      `json:"doubts,omitempty"` // what the answer depends on and is not known
	Notes      []string      `json:"notes"`
}

// DrainAsked asks whether nodes can be drained. The answer is [Drained].
type DrainAsked struct {
	Node []string `json:"node" need:"true" about:"a node that is to be drained"`
}

// Drained is whether nodes can be drained.
type Drained struct {
	Verdict string            `json:"verdict"` // yes, no or unknown
	Doubts  []string          `json:"doubts,omitempty"`
	Answer  moves.ClearAnswer `json:"answer"` // as far as is known
	Notes   []string          `json:"notes"`
}

// SafeAsked asks until when workloads that run keep their places. The answer is [Safety].
type SafeAsked struct {
	Workload  string `json:"workload" about:"the running workload NAMESPACE/NAME; absent: all"`
	Pod       string `json:"pod" about:"the running pod NAMESPACE/NAME, on its node, in place of workloads"`
	Pods      string `json:"pods" about:"all: each running pod of the namespace, on its node, in place of workloads"`
	Queue     string `json:"queue" about:"only workloads of this queue"`
	Namespace string `json:"namespace" about:"only workloads of this namespace"`
	Requests  string `json:"requests" about:"new: requests that are made from now on; absent: also what waits already"`
}

// Safety is until when workloads that run keep their places, those that are safe for the shortest time first.
type Safety struct {
	Now       time.Time `json:"now"`
	Workloads []Safe    `json:"workloads"`
	Pods      []SafePod `json:"pods,omitempty"`   // those that were asked about, in the same order
	Doubts    []string  `json:"doubts,omitempty"` // what the answer depends on and is not known
	Notes     []string  `json:"notes"`
}

// SafePod is until when a pod keeps its place on its node.
type SafePod struct {
	safe.PodAnswer
	Node  string `json:"node"`  // that it runs on
	Words string `json:"words"` // the answer in a sentence
}

// Safe is until when one keeps its place.
type Safe struct {
	safe.Answer
	// Waiting are those that wait and would make it yield now, each if it were alone. It is looked for only where one workload is asked about.
	Waiting []string `json:"waiting,omitempty"`
	Words   string   `json:"words"` // the answer in a sentence
}

// verb handles questions with parameters of type P.
func verb[P any](s *server, of func(*Verbs) func(context.Context, *P) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked, given := new(P), r.URL.Query()
		if err := parameters(given, asked); err != nil {
			s.write(w, r, nil, err)
			return
		}
		s.in(w, r, r.URL.Path+"?"+url.Values(given).Encode(), func(ctx context.Context) (any, error) {
			answer := of(&s.Cluster().Verbs)
			if answer == nil {
				return nil, errNotAnswered
			}
			return answer(ctx, asked)
		})
	}
}
