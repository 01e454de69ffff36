package trace

// Step is one step of a decision. Which fields it has depends on its [Kind]; the others are
// zero.
type Step struct {
	Kind     Kind
	Rule     Rule
	Class    Class
	Tier     Tier
	Bound    Bound
	Reason   Reason
	Strategy Strategy
	// Evicted: the candidates of a phase are being evicted already.
	Evicted bool
	// Borrowing: the request may take its queue over nominal quota.
	Borrowing bool
	// LargestFirst: the candidates of other queues come by what they free.
	LargestFirst bool
	// Fits is the verdict of the step.
	Fits  bool
	Round int
	// Node is a node of the quota tree, Nodes a few.
	Node  int
	Nodes []int
	// Workload is an ID.
	Workload string
	// Others is the IDs of a few more.
	Others []string
	// Count is how many a verdict is about.
	Count int64
	// PodSet is the index of a pod set, of which Replicas yield; -1: the whole workload.
	PodSet   int
	Replicas int64
	// Until is the last instant at which a rule holds; the highest int64: for ever. SetBy
	// is the node that sets it, -1 for the default.
	Until int64
	SetBy int
	// At is an instant.
	At int64
	// Missing is what is short, by slot.
	Missing []Missing
	// Ours is the share on the preemptor's side with the request, Before and After those on
	// the victim's side with the victim and without.
	Ours, Before, After float64
}

// Missing is what one slot of the request lacks, and the node whose quota or limit is the
// bound.
type Missing struct {
	Slot   int
	Amount int64
	Node   int
}

const (
	defaultSamples = 4     // a line of text
	defaultSteps   = 4_096 // some hundred kilobytes
)

// Recorder keeps the steps of one decision. The zero value is ready; nil records nothing,
// and must be asked for before a step is made. It is for one goroutine.
type Recorder struct {
	// MaxSamples is how many workloads are named of those that one rule passes over in one
	// phase. Zero is 4.
	MaxSamples int
	// MaxSteps is how many steps are kept. Zero is 4096.
	MaxSteps int

	Steps []Step
	// Dropped is how many steps there were beyond that.
	Dropped int

	scope  int // of Steps: where the phase began
	silent int
}

// Silence leaves steps out until [Recorder.Resume] is called as often. A nil recorder is
// silent.
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

// AddAnyway adds a step though the recorder is silent: the verdict of what is left out.
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
	switch s.Kind {
	case PhaseBegins, AttemptBegins, RoundBegins, Turn:
		r.scope = len(r.Steps)
	}
	if len(r.Steps) >= orDefault(r.MaxSteps, defaultSteps) {
		r.Dropped++
		return
	}
	r.Steps = append(r.Steps, s)
}

// Skip notes that a rule keeps a workload and others beside it, count in all. Those that
// the same rule keeps in the same queue and phase are one step.
func (r *Recorder) Skip(s Step) {
	if s.Kind = Skipped; r.silent > 0 {
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
