package trace

// Door makes the decision of a preemptor about a snapshot and a request, and records its steps. Only
// packages of this module can make a recorder, so no door has an exported method for it.
type Door func(preemptor, snapshot, request any, to *Recorder) (decision any, err error)

// The doors set these: package preemption and package placement.
var Quota, Nodes Door

// Decide makes a decision of type D through a door. The recorder gets its Names first.
func Decide[D any](through Door, preemptor, snapshot, request any, to *Recorder) (D, error) {
	d, err := through(preemptor, snapshot, request, to)
	return d.(D), err
}
