package suite

// Sentence is the sentence of the documentation that decides a part of an answer.
type Sentence struct {
	Text string `json:"text"`
	// Where is the file that has it, from the root of the project.
	Where string `json:"where"`
}

const (
	decisionFile  = "preemption/decision.go"
	searchFile    = "preemption/doc.go"
	placementFile = "preemption/placement/decision.go"
	nodesFile     = "preemption/placement/doc.go"
)

var ofDecision = map[string]Sentence{
	"outcome":      {"A workload may yield if every rule permits it", searchFile},
	"victims":      {"Then each victim that is not needed is put back, the latest first", searchFile},
	"reasons":      {"VictimReason is the right by which a victim is preempted.", decisionFile},
	"order":        {"Candidates become victims in this order until the request fits.", searchFile},
	"cost":         {"Lost is, with [Config.Cost], what the victims lose by it, added up.", decisionFile},
	"admitted":     {"Admitted is, for Fits, the workload as admitted: with the assigned flavors, and Now as its reservation time.", decisionFile},
	"counts":       {"A binary search finds a step with which the workload fits or may preempt", decisionFile},
	"borrowHeight": {"BorrowHeight says how far up the cohort tree the request borrows once the victims are gone", decisionFile},
	"assignment":   {"The first flavor that is not skipped is assigned; if all are skipped, the best.", searchFile},
	"retryAt": {"RetryAt is, for Wait, the first instant at which the request fits or can preempt if nothing but time changes, exact to the nanosecond and later than Now.",
		decisionFile},
	"triggers": {"Triggers lists the triggers of rules that hold now, if the policies do not suffice and the preemptor's queue has rules", decisionFile},
	"blockers": {"Blockers lists, for Wait and Impossible, who may not yield and by which rule: one entry for each queue, or one for a whole cohort that borrows nothing.",
		decisionFile},
	"shortage": {"It is computed without a set of workloads, the first of these sets without which the request still does not fit", decisionFile},
	"proof":    {"it says how good the victims are, or that no victims help.", decisionFile},
}

var ofPlacement = map[string]Sentence{
	"outcome":    {"If the request fits now, no unit is preempted", nodesFile},
	"victims":    {"The units that cannot be put back are the victims.", nodesFile},
	"reasons":    {"Reason says, for Impossible, and for Wait until time helps, why there is no place now.", placementFile},
	"order":      {"Order is the victim's number in the order in which the victims were chosen, from 1: the most important first.", placementFile},
	"violations": {"Violations is the number of pods evicted against a disruption budget.", placementFile},
	"places":     {"Score the domains: fewest pods against budgets; lowest highest priority of a victim", nodesFile},
	"retryAt": {"RetryAt is, for Wait, the first instant after Now at which the outcome is Fits or Preempt if nothing but time changes, exact to the nanosecond",
		placementFile},
	"blockers": {"the units that may not yield and that have a pod on a node that the request may use, if that pod takes some of what Shortage lists", placementFile},
	"shortage": {"It is computed without units, the first of these sets without which a resource is still missing", placementFile},
}

// ofForm has the sentences of one form alone; those of its decision stand above.
var ofForm = map[string]map[string]Sentence{
	Orchestrate: {
		"outcome": {"At most one gate is opened within a timeout, counted from the latest opening of a gate that is still open.", "gate/orchestrate.go"},
		"retryAt": {"WakeAt is when to ask again if no event comes before: the latest of what is still to come", "gate/orchestrate.go"},
	},
	Cycles: {
		"cycle":   {"Each head is served in that order, with what the heads before it left.", "preemption/cycle/cycle.go"},
		"outcome": {"A head is admitted if it fits now and also fits once all victims are gone and all preemptors of the cycle are admitted.", "preemption/cycle/cycle.go"},
		"reasons": {"Reason says, for all outcomes but Admit, why the head is requeued", "preemption/cycle/result.go"},
	},
	Settle: {
		"outcome":  {"No victim is in vain: without any of them, or any replica of one, more would remain over.", "preemption/settle/answer.go"},
		"victims":  {"The workloads of a queue that is over yield by lowest priority and newest first, whatever its policies say.", "preemption/settle/doc.go"},
		"steps":    {"Steps has a step for each search that took victims, in their order, then one for each column of a node that stays over", "preemption/settle/answer.go"},
		"shortage": {"The excess of each column of each queue and cohort ([preemption.Snapshot.Excess]) is settled in turn: queues first, then cohorts", "preemption/settle/doc.go"},
		"retryAt":  {"the first instant at which asking again gets more, if the victims leave and nothing else but time changes", "preemption/settle/answer.go"},
	},
	Move: {
		"moves": {"The victims are placed without the others: first those that must not yield, then by what their move saves, then the largest first", "preemption/moves/doc.go"},
		"steps": {"is an order in which it can happen: no pod starts before there is room for it.", "preemption/moves/doc.go"},
		"cost":  {"Cost is what the victims lose.", "preemption/moves/decision.go"},
	},
	Clear: {
		"victims":  {"those that lose the least, then those from which the fewest pods leave, then the first.", "preemption/moves/clear.go"},
		"outcome":  {"Outcome is Fits if Count domains are empty already, Preempt if they are once Moves and Victims have left", "preemption/moves/clear_request.go"},
		"moves":    {"those with a place outside the cleared domains move, the others yield, or keep the domain if they must not.", "preemption/moves/clear.go"},
		"steps":    {"is an order in which it can happen: no pod starts before there is room for it.", "preemption/moves/doc.go"},
		"cost":     {"Cost is what all of it costs.", "preemption/moves/clear_request.go"},
		"proof":    {"No answer for as many domains costs less than LowerBound.", "preemption/moves/clear_request.go"},
		"blockers": {"for each domain that was tried a unit that can neither move nor yield, sorted by domain.", "preemption/moves/clear_request.go"},
		"retryAt":  {"RetryAt is, for Wait, the first instant at which Count domains can be emptied", "preemption/moves/clear_request.go"},
	},
}

// SentenceOf returns the sentence that decides a part of the answers of a form.
func SentenceOf(form, part string) Sentence {
	if s, ok := ofForm[form][part]; ok {
		return s
	}
	if form == Place || form == Move || form == Clear {
		return ofPlacement[part]
	}
	return ofDecision[part]
}
