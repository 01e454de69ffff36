// Package fault collects everything that is wrong with an input, each fault with its path.
package fault

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with an input. The zero value has no meaning.
type Fault struct {
	// Path is the path of the value, for instance "queues[2].quotas[0].nominal".
	Path string
	// Problem says what is wrong and names the value.
	Problem string
}

// Error returns "path: problem".
func (f Fault) Error() string { return f.Path + ": " + f.Problem }

// List holds every fault of an input, in the order of the input. The zero value is empty.
type List []Fault

// shown limits the text of a list: a state may have a fault in every workload.
const shown = 10

// Error returns one line: the first ten faults joined by "; ", and the number of the others.
func (l List) Error() string {
	var b strings.Builder
	for i, f := range l {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(l)-shown)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.Error())
	}
	return b.String()
}

// Unwrap returns the faults as errors.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, f := range l {
		errs[i] = f
	}
	return errs
}

// Add adds a fault to the list. problem and args are those of [fmt.Sprintf].
func (l *List) Add(path, problem string, args ...any) {
	*l = append(*l, Fault{path, fmt.Sprintf(problem, args...)})
}

// Err returns the list as an error, or nil if it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
