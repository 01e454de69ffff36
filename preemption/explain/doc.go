// Package explain turns an explanation of a decision into words for people and rows for
// machines. A decision that nobody asks about pays nothing for it.
//
//	e, err := preemptor.Explain(snapshot, request)
//	fmt.Print(explain.Text(e))      // a page for a terminal of 80 columns
//	condition := explain.Message(e) // one sentence for a condition or an event
//	diagram := explain.Mermaid(e)   // a flowchart
//	rows := explain.Rows(e)         // counters by reason
//	data, err := json.Marshal(e)    // the explanation itself is plain data
//
// Those of a decision about nodes are PlacementText, PlacementMessage, PlacementMermaid and
// PlacementRows. A [Printer] writes them with other amounts and for another width.
//
// The texts are for people and may change; programs read the explanation.
package explain
