package trace

// Step is one step of a decision. Its [Kind] decides which fields are set.
type Step struct {
	Kind  Kind
	Class Class
	Bound Bound
	// Right is the right by which what is taken yields.
	Right Right
	// Evicted: what is taken was told to leave before.
	Evicted bool
	// Fits is the result of the step.
	Fits bool
	// Node is a node of the quota tree.
	Node int
	// Workload is the ID of a workload, or of the first pod of a unit. Group is the ID of the
	// group that yields whole.
	Workload, Group string
	// Limit is the name of a limit on preemptions.
	Limit string
	// Others holds the IDs of a few more.
	Others []string
	// Count is the number of workloads or nodes that the step is about.
	Count int64
	// PodSet is the index of a pod set, of which Replicas yield; -1: the whole workload
	// yields.
	PodSet   int
	Replicas int64
	// At is an instant.
	At int64
	// Missing is what is short, by slot.
	Missing []Missing
	Verdict
	// Within is, where the rule is BorrowWithinCohort, the verdict if the queue stays within its nominal quota.
	Within Verdict
	Attempt
	Shares
	// Amount is how many pods must have a place.
	Amount int64
	Place
}

// Verdict says whether a workload, or a unit of nodes, may yield now. The zero value: it may.
type Verdict struct {
	// Rule is the first rule that keeps it; zero: none does.
	Rule Rule
	// Until is, for rules of time, the last instant at which the rule keeps it; the highest int64:
	// time changes nothing.
	Until int64
	// SetBy is the node that sets a duration, or the node that borrows nothing; -1: the default.
	SetBy int
}

// MayYield reports whether no rule keeps the workload or the unit.
func (v Verdict) MayYield() bool { return v.Rule == 0 }

// Attempt says how candidates are taken.
type Attempt struct {
	// Borrowing: the request may take its queue over nominal quota.
	Borrowing bool
	// ByRules: the attempt is one by rules, which begins with all that the policies permit.
	ByRules bool
	// Second: the second round of a tournament, or the second search in a domain.
	Second bool
}

// Shares are what a strategy of fair sharing compares: ours on the preemptor's side, with the
// request; before and after on the victim's side, with and without the victim.
type Shares struct {
	Strategy            Strategy
	Ours, Before, After float64
}

// Place is a domain of nodes, by name, and what was found there.
type Place struct {
	Domain     string
	Found      Found
	Priority   int64
	Violations int
}

// Missing is what one slot of the request lacks, and the node of which the quota or limit is
// exceeded.
type Missing struct {
	Slot   int
	Amount int64
	Node   int
}

const (
	defaultSamples = 4     // a line of text
	defaultSteps   = 4_096 // some hundred kilobytes
)

// Recorder keeps the steps of one decision. The zero value is ready; nil records nothing, so
// check for nil before making a step. It is not safe for concurrent use.
type Recorder struct {
	// MaxSamples is the number of workloads that are named of those that one rule skips in
	// one phase. Zero is 4.
	MaxSamples int
	// MaxSteps is the number of steps that are kept. Zero is 4096.
	MaxSteps int
	// To, if set, gets the steps, and none is kept.
	To func(*Step)
	// Survey: it is recorded of each workload whether it may yield, one step for each.
	Survey bool

	// Names turns the integers of the steps into names. The preemptor sets it.
	Names Names

	Steps []Step
	// Dropped is the number of further steps.
	Dropped int

	scope  int // index in Steps at which the phase began
	silent int
}

// Silence drops steps until [Recorder.Resume] is called as often as Silence. A nil recorder
// is silent.
func (r *Recorder) Silence() {
	if r != nil {
		r.silent++
	}
}

// Resume ends a [Recorder.Silence].
func (r *Recorder) Resume() {
	if r != nil {
		r.silent--
	}
}

// AddAnyway adds a step even if the recorder is silent: the result of what is dropped.
func (r *Recorder) AddAnyway(s Step) {
	silent := r.silent
	r.silent = 0
	r.Add(s)
	r.silent = silent
}

// Add adds a step.
func (r *Recorder) Add(s Step) {
	if r.silent > 0 {
		return
	}
	if r.To != nil {
		r.To(&s)
		return
	}
	switch s.Kind {
	case PhaseBegins, AttemptBegins, RoundBegins, Turn, DomainBegins:
		r.scope = len(r.Steps)
	}
	if len(r.Steps) >= orDefault(r.MaxSteps, defaultSteps) {
		r.Dropped++
		return
	}
	r.Steps = append(r.Steps, s)
}

// Skip records that a rule refuses a workload and others, Count in total. Those that the same
// rule refuses in the same queue and phase are one step.
func (r *Recorder) Skip(s Step) {
	if s.Kind = Skipped; r.silent > 0 || r.To != nil {
		r.Add(s)
		return
	}
	for i := min(r.scope, len(r.Steps)); i < len(r.Steps); i++ {
		if o := &r.Steps[i]; o.Kind == Skipped && o.Rule == s.Rule && o.Node == s.Node {
			o.Count += s.Count
			if len(o.Others)+1 < orDefault(r.MaxSamples, defaultSamples) {
				o.Others = append(o.Others, s.Workload)
			}
			return
		}
	}
	r.Add(s)
}

func orDefault(n, standard int) int {
	if n == 0 {
		return standard
	}
	return n
}
