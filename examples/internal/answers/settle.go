package answers

import (
	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption/settle"
)

// UsageDoubts are what is not known of usage and quota. An answer about all that runs depends on each.
func (in *Input) UsageDoubts() []string { return bridge.Texts(in.doubts.OnUsage()) }

// Settle says who has to leave now if usage is to be within what is allowed.
func (c *Cluster) Settle(r settle.Request) (settle.Answer, error) {
	r.Now = c.Now
	a, err := settle.Decide(c.Preemptor, c.Snapshot, r)
	if err != nil {
		return a, Faults(err)
	}
	return a, nil
}
