package agree

import (
	"github.com/cedesched/cede/internal/witness/nodes"
	"github.com/cedesched/cede/preemption/placement"
)

// OnNodes asks the witness about pods on nodes, and returns both decisions if that of the engine is another one. All of it is
// compared: no disagreement is known.
func OnNodes(c placement.Config, st placement.State, r placement.Request, engine placement.Decision) (diff string) {
	mine, theirs := form(engine), form(nodes.Decide(c, st, r))
	if mine == theirs {
		return ""
	}
	return difference(mine, theirs)
}
