package preemption

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/queue"
)

// Normalize returns the state as Kueue takes it, where [NewSnapshot] refuses what Kueue accepts and does not
// look at: see [queue.Queue.Normalize] and [queue.Cohort.Normalize]. The list says what was changed, in the
// order of cohorts and queues. The state itself is not changed; what was not changed is shared with it. A
// state that NewSnapshot accepts stays as it is. Other faults stay, too.
func (st State) Normalize() (State, []queue.Change) {
	var all []queue.Change
	cohorts, queues := st.Cohorts, st.Queues
	for i := range cohorts {
		c, changes := cohorts[i].Normalize(fmt.Sprintf("cohorts[%d]", i))
		if len(changes) == 0 {
			continue
		}
		if &st.Cohorts[0] == &cohorts[0] {
			st.Cohorts = slices.Clone(cohorts)
		}
		st.Cohorts[i], all = c, append(all, changes...)
	}
	for i := range queues {
		q, changes := queues[i].Normalize(fmt.Sprintf("queues[%d]", i))
		if len(changes) == 0 {
			continue
		}
		if &st.Queues[0] == &queues[0] {
			st.Queues = slices.Clone(queues)
		}
		st.Queues[i], all = q, append(all, changes...)
	}
	return st, all
}
