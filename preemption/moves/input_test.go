package moves_test

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
)

// Everything that is wrong with a question is in one error.
func TestBadInput(t *testing.T) {
	s := snapshot(t, cluster("a=4 a:v=2"))
	bad := moves.Config{Start: 7, MaxTries: -2}
	config := []string{"config.Start: Start(7) is unknown", "config.MaxTries: -2 is negative"}
	if _, err := moves.Decide(nil, s, pending(1, 1), bad); err == nil || err.Error() != strings.Join(config, "; ") {
		t.Error(err)
	}
	r := moves.ClearRequest{Count: -1, Domains: []placement.Domain{{Nodes: []string{"a", "z"}}, {Name: "x", Nodes: []string{"a"}}, {Name: "x"}}}
	request := []string{
		"request.count: -1 is negative", "request.domains[0].name: is empty", `request.domains[0].nodes[1]: unknown node "z"`,
		`request.domains[1].nodes[0]: node "a" is in request.domains[0] already`, `request.domains[2].name: "x" is that of request.domains[1]`,
	}
	if _, err := moves.Clear(nil, s, r, bad); err == nil || err.Error() != strings.Join(append(config, request...), "; ") {
		t.Error(err)
	}
}
