package bridge

// Note says what an object has that the state does not have, or has in another form. It is
// plain data; nothing is logged.
type Note struct {
	// Object is the kind and the ID: "ClusterQueue a", "Workload team/job".
	Object string `json:"object"`
	// Path is the field, for instance "spec.stopPolicy". Empty: the whole object.
	Path string `json:"path,omitempty"`
	// Text is a sentence without full stop that names the object.
	Text string `json:"text"`
	// Stops says that the workload, or every workload of the queue, is not considered at all
	// while this lasts: a queue that is stopped, a workload that is inactive.
	Stops bool `json:"stops,omitempty"`
	// InLine says of a note that Stops that the workload keeps its place in its queue: in one of StrictFIFO others wait behind it.
	InLine bool `json:"inLine,omitempty"`
}

// String returns the text.
func (n Note) String() string { return n.Text }

// Texts returns the texts of notes, in their order.
func Texts(notes []Note) []string {
	var texts []string
	for _, n := range notes {
		texts = append(texts, n.Text)
	}
	return texts
}
