package witness_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/internal/witness"
	"github.com/cedesched/cede/preemption"
)

// TestOrdersFromBehind: to look from behind for who may go last finds an order of removal if and only if there is one.
func TestOrdersFromBehind(t *testing.T) {
	asked := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range each {
			q := questions(func(c *preemption.Config) {
				c.Compat.Kueue016 = c.Compat.Kueue016 && c.Sharing != preemption.Stable
			}).Draw(t, "question")
			behind, all := witness.Orders(q.Config, q.Record.State, *q.Record.Request, 7)
			for _, has := range all {
				asked[has]++
			}
			if !slices.Equal(behind, all) {
				differs(t, q, "from behind %v, by all orders %v", behind, all)
			}
		}
	})
	if t.Log(asked); asked[true] == 0 || asked[false] == 0 {
		t.Errorf("sets with an order: %d, without: %d", asked[true], asked[false])
	}
}
