// Package fault collects everything that is wrong with an input, each fault with its path. Every
// error about an input in this library is a [List]: nothing stops at the first fault, so an
// operator mends a file once.
//
// The zero value of a List is empty, and its Err is nil. Callers know it as preemption.Faults:
//
//	var faults fault.List
//	if n < 0 {
//		faults.Add("config.Retries", "%d is negative", n)
//	}
//	return faults.Err()
//
// Paths are those of the JSON form. Faults come in the order of the input. A List is also an error
// of several (errors.Is, errors.As).
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
