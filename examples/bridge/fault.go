package bridge

// FieldFault is a field of an object that is not read as it stands: it is not known, or there twice.
type FieldFault struct {
	Path string // "spec.preemption.minAdmitDuration"
	Text string // what is wrong, after the path: "is there twice"
	// Harmless: no answer depends on the field.
	Harmless bool
	// OnlyYes: it can only make a no of a yes.
	OnlyYes bool
}
