package queue_test

import (
	"os"
	"reflect"
	"testing"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/workload"
)

// The JSON forms that were ever written are read, and written again as they are.
func TestFormsAreKept(t *testing.T) {
	files := os.DirFS("testdata/v0")
	golden.Kept[queue.Head](t, files, "head", reflect.TypeFor[workload.Workload]())
	golden.Kept[queue.PendingStatus](t, files, "standing")
	golden.Kept[queue.Requeue](t, files, "requeue")
}
