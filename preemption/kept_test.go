package preemption_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/loops"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/workload"
)

// The JSON forms that were ever written are read, and written again as they are.
func TestFormsAreKept(t *testing.T) {
	files := os.DirFS("testdata/v0")
	golden.Kept[preemption.State](t, files, "state", reflect.TypeFor[workload.Workload](), reflect.TypeFor[rules.Config]())
	golden.Kept[preemption.Record](t, files, "record", reflect.TypeFor[rules.Config]())
	golden.Kept[preemption.Decision](t, files, "decision", reflect.TypeFor[workload.Workload]())
	golden.Kept[loops.Loop](t, files, "loop", reflect.TypeFor[preemption.Victim]())
	golden.Kept[explain.Explanation](t, files, "explanation", reflect.TypeFor[explain.Way](), reflect.TypeFor[preemption.Decision](), reflect.TypeFor[preemption.Certificate]())
}
