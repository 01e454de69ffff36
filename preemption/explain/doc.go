// Package explain says how a decision came about, which changes would make a refused request succeed,
// and turns that into words for people. A decision without an explanation pays nothing for it.
//
//	e, err := explain.Explain(preemptor, snapshot, request)
//	fmt.Print(explain.Text(e))      // a page for a terminal of 80 columns
//	condition := explain.Message(e) // one sentence for a condition or an event
//	data, err := json.Marshal(e)    // the explanation itself is plain data
//
// For a decision about nodes there are [ExplainPlacement], [PlacementText] and [PlacementMessage]. A [Printer] writes them with
// other amounts and for another width.
//
// The texts are for people and may change; programs read the explanation.
//
// The zero Printer prints for 80 columns, with amounts as they are in the state. Explain fails as
// Decide does, with preemption.Faults; the functions that make texts never fail. An explanation has the
// sources of its rules where they are decided: package preemption and package placement.
package explain
