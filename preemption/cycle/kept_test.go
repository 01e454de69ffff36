package cycle_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/queue"
)

// The JSON forms that were ever written are read, and written again as they are.
func TestFormsAreKept(t *testing.T) {
	files := os.DirFS("testdata/v0")
	golden.Kept[cycle.Result](t, files, "result", reflect.TypeFor[queue.Head](), reflect.TypeFor[preemption.Decision]())
}
