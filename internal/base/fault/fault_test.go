package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cedesched/cede/internal/base/fault"
)

// "One line: the faults joined by "; ", at most ten of them."
func TestError(t *testing.T) {
	var list fault.List
	if list.Err() != nil || list.Error() != "" {
		t.Errorf("an empty list is %v, %q", list.Err(), list)
	}
	var want []string
	for i := range 13 {
		list.Add(fmt.Sprintf("queues[%d]", i), "%q is unknown", "q")
		want = append(want, fmt.Sprintf(`queues[%d]: "q" is unknown`, i))
		text := strings.Join(want[:min(i+1, 10)], "; ")
		if i >= 10 {
			text += fmt.Sprintf("; and %d more", i-9)
		}
		if err := list.Err(); err == nil || err.Error() != text {
			t.Errorf("%d faults: %v, want %s", i+1, err, text)
		}
	}
}

// Each fault is found in the list by errors.Is and errors.As.
func TestUnwrap(t *testing.T) {
	list := fault.List{{Path: "a", Problem: "first"}, {Path: "b", Problem: "second"}}
	err := fmt.Errorf("state: %w", list.Err())
	for _, f := range list {
		if !errors.Is(err, f) {
			t.Errorf("%v is not found in %v", f, err)
		}
	}
	var f fault.Fault
	if !errors.As(err, &f) || f != list[0] {
		t.Errorf("%v", f)
	}
	if errors.Is(err, fault.Fault{Path: "a", Problem: "second"}) {
		t.Error("a fault is found that is not there")
	}
}
