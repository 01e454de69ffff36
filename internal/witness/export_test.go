package witness

import "github.com/cedesched/cede/preemption"

// Orders says of each set of the candidates, if they are few, whether there is an order of removal in which each is permitted: by
// the look from behind, and by a look at all orders.
func Orders(c preemption.Config, st preemption.State, r preemption.Request, most int) (behind, all []bool) {
	w, list := units(c, st, r)
	if len(list) > most {
		return nil, nil
	}
	for _, mayBorrow := range attemptsOf(w, list) {
		for mask, ordered := range ordered(w, list, mayBorrow) {
			set := chosen(list, mask)
			if saysTwice(set) {
				continue
			}
			for _, c := range set {
				c.remove()
			}
			left := w.outOfOrder(set, inAttempt(w, mayBorrow, true))
			restore(set)
			behind, all = append(behind, len(left) == 0), append(all, ordered)
		}
	}
	return behind, all
}
