package sim

import (
	"fmt"

	"github.com/cedesched/cede/quota"
)

// check returns the first invariant that does not hold in a cluster: usage equals the sum
// of the admitted; nobody is lost, or there twice; whoever is told to stop was named by a
// decision.
func (w *World) check(c *cluster) error {
	usage := map[string]map[quota.FlavorResource]int64{}
	state := c.snapshot.State()
	admitted, waits := 0, 0
	for id, me := range c.live {
		_, _, pending := c.pending.Find(id)
		_, holds := c.snapshot.Find(id)
		if pending != (me.state == waiting) || holds != (me.state == running || me.state == stopping) {
			return fmt.Errorf("%q is in state %d, waits: %t, admitted: %t", id, me.state, pending, holds)
		}
		if me.state == waiting {
			waits++
			continue
		}
		admitted++
	}
	if waits != c.pending.Len() || admitted != len(state.Admitted) {
		return fmt.Errorf("%d wait and %d run, but %d are pending and %d admitted", waits, admitted, c.pending.Len(), len(state.Admitted))
	}
	for _, facts := range state.Admitted {
		me := c.live[facts.ID]
		if facts.Evicted != (c.told[facts.ID] != "") {
			return fmt.Errorf("%q: evicted %t, but it was told to stop for %q", facts.ID, facts.Evicted, c.told[facts.ID])
		}
		if usage[facts.Queue] == nil {
			usage[facts.Queue] = map[quota.FlavorResource]int64{}
		}
		for _, u := range me.facts.Usage() {
			usage[facts.Queue][u.FlavorResource()] += u.Amount
		}
	}
	for i := range state.Queues {
		rows, _ := c.snapshot.QueueStatus(state.Queues[i].Name)
		for _, row := range rows {
			if sum := usage[state.Queues[i].Name][row.FlavorResource]; sum != row.Usage {
				return fmt.Errorf("queue %q uses %d of %v, the sum of its workloads is %d", state.Queues[i].Name, row.Usage, row.FlavorResource, sum)
			}
		}
	}
	return nil
}
