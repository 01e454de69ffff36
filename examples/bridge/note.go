package bridge

// Note says what of an object is not in the state, or is there otherwise. It is plain data;
// nothing is logged.
type Note struct {
	// Object is the kind and the ID: "ClusterQueue a", "Workload team/job".
	Object string `json:"object"`
	// Path is the field that it is about, as in "spec.stopPolicy". Empty: the object.
	Path string `json:"path,omitempty"`
	// Text is a sentence without full stop that names the object.
	Text string `json:"text"`
}

// String returns the text.
func (n Note) String() string { return n.Text }

// Texts are the texts of notes, in their order.
func Texts(notes []Note) []string {
	var texts []string
	for _, n := range notes {
		texts = append(texts, n.Text)
	}
	return texts
}
