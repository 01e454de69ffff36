package answers

import "github.com/cedesched/cede/preemption/settle"

// Settle says who has to leave now if usage is to be within what is allowed.
func (c *Cluster) Settle(r settle.Request) (settle.Answer, error) {
	r.Now = c.Now
	a, err := settle.Decide(c.Preemptor, c.Snapshot, r)
	if err != nil {
		return a, Faults(err)
	}
	return a, nil
}
