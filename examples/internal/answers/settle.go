package answers

import (
	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota/fairshare"
)

// UsageDoubts are what is not known of usage and quota. An answer about all that runs depends on each.
func (in *Input) UsageDoubts() []string { return bridge.Texts(in.doubts.OnUsage()) }

// Settle says who has to leave now if usage is to be within what is allowed. Of KAI these are limits: fair shares allow and forbid nothing
// that runs, so that they do not decide.
func (c *Cluster) Settle(r settle.Request) (a settle.Answer, err error) {
	r.Now = c.Now
	preemptor, snapshot := c.Preemptor, c.Snapshot
	if c.ByFairShares() {
		config := c.Config
		config.Sharing = preemption.Classical
		if preemptor, err = preemption.New(config); err != nil {
			return a, err
		}
		if snapshot, err = snapshot.With(preemption.SetFairShares(fairshare.Tree{})); err != nil {
			return a, Faults(err)
		}
	}
	a, err = settle.Decide(preemptor, snapshot, r)
	if err != nil {
		return a, Faults(err)
	}
	return a, nil
}
