package placement_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

// The JSON forms that were ever written are read, and written again as they are.
func TestFormsAreKept(t *testing.T) {
	files := os.DirFS("testdata/v0")
	golden.Kept[placement.State](t, files, "state", reflect.TypeFor[workload.Pod]())
	golden.Kept[placement.Record](t, files, "record")
	golden.Kept[placement.Decision](t, files, "decision", reflect.TypeFor[workload.Pod]()) // those of a record
	golden.Kept[explain.PlacementExplanation](t, files, "explanation", reflect.TypeFor[explain.Way](), reflect.TypeFor[placement.Decision]())
}
