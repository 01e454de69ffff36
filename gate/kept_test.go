package gate_test

import (
	"os"
	"testing"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/internal/proof/golden"
)

// The JSON forms that were ever written are read, and written again as they are.
func TestFormsAreKept(t *testing.T) {
	files := os.DirFS("testdata/v0")
	golden.Kept[gate.Gates](t, files, "gates")
}
