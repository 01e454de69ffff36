package rules_test

import (
	"os"
	"testing"

	"github.com/cedesched/cede/internal/proof/golden"
	"github.com/cedesched/cede/queue/rules"
)

// The JSON forms that were ever written are read, and written again as they are.
func TestFormsAreKept(t *testing.T) {
	golden.Kept[rules.Config](t, os.DirFS("testdata/v0"), "config")
}
