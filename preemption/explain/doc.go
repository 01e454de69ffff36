// Package explain says how a decision came about, which changes would make a refused request succeed,
// and turns that into words for people. A decision without an explanation pays nothing for it.
//
//	e, err := explain.Explain(preemptor, snapshot, request)
//	fmt.Print(explain.Text(e.Steps)) // a page for a terminal of 80 columns
//	data, err := json.Marshal(e)     // the decision, the steps as lines, and the changes
//
// [ExplainPlacement] is about decisions on nodes. A [Printer] writes amounts in another way, and for another width; the zero Printer
// writes amounts as they are in the state, for 80 columns. [Answer] says a decision in one sentence, without an explanation.
//
// Words are for people and may change; programs read the decision and the ways. Explain fails as
// Decide does, with preemption.Faults; functions that make words never fail. An explanation has the
// sources of its rules where they are decided: package preemption and package placement.
package explain
