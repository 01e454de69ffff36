// Package recorded asks decisions again that another scheduler made, and says what differs.
//
// A file holds JSON Lines, plain or gzip, one [Case] in each line. Any scheduler can record them: the state, the request and
// the configuration have the JSON forms of package preemption (see [preemption.Record]) and of package placement, and "want"
// holds what the other scheduler answered. What it does not hold is not compared:
//
//	{"id": "one", "source": "my-scheduler 1.2, TestPreempt/one",
//	 "quota": [{
//	   "state": {"queues": [...], "admitted": [...]},
//	   "request": {"workload": {...}, "now": "2026-11-21T12:00:00Z"},
//	   "want": {"victims": [{"workload": "ns/low", "reason": "InClusterQueue"}], "retryAt": "0001-01-01T00:00:00Z"}}]}
//
// A question without "state" or "config" is about those of the question before it. [Question], [OnNodes] and [Gates] document
// the other fields.
//
// Where cede decides otherwise on purpose, the difference is a departure. Each departure is a predicate on the case, and
// excuses the one answer that it makes right. docs/departures.md lists them with their reasons.
//
//	err := recorded.Read(name, file, func(line int, c *recorded.Case) error {
//		report, err := c.Check()
//		...
//	})
//
// Read, Parse and Check fail on what is no case, with the line or the path; a decision that
// differs is no error but a Difference in the Report. The zero Case is not valid: it asks nothing.
// The records in testdata come from the tests and benchmarks of the schedulers that they name.
package recorded
