package trace

// Names turns the integers of a record into names.
type Names struct {
	// Node names a queue or cohort, as `cohort "research"`.
	Node func(node int) string
	// Slot returns the flavor and resource of a slot.
	Slot func(slot int) (flavor, resource string)
	// PodSet names a pod set of a running workload.
	PodSet func(workload string, podSet int) string
}
