package trace

// Notebook takes the place of a guard in a preemptor's configuration: a preemptor that is made with one records the steps of
// its decisions there, and asks it nothing. Only packages of this module can make a [Recorder], which is one once it is embedded
// beside a guard that is nil.
type Notebook interface{ Notes() *Recorder }

// Notes returns the recorder.
func (r *Recorder) Notes() *Recorder { return r }

// Open returns the guards of a configuration without notebooks, and the recorder of the last one; nil if there is none.
func Open[Guard any](list []Guard) (guards []Guard, to *Recorder) {
	for _, g := range list {
		if n, ok := any(g).(Notebook); ok {
			to = n.Notes()
			continue
		}
		guards = append(guards, g)
	}
	return guards, to
}
