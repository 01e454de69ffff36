package queues

// anybody reports whether some set of candidates is allowed: the request fits without it, and
// it has an order of removal in which each is permitted, and within the limits, when only those
// before it are gone.
// It tries all sets, each from all of those with one candidate less; known is false if there
// are too many.
func (j *judge) anybody() (exists, known bool) {
	if j.Workload.NeverPreempts {
		return false, true
	}
	list := j.candidates()
	if len(list) > mostTried {
		return false, false
	}
	for _, borrowing := range j.attempts(list) {
		if j.allowedIn(list, borrowing) {
			return true, true
		}
	}
	return false, true
}

// mostTried is the largest number of candidates, replicas counted one by one, of which all
// sets are tried: a thousand sets.
const mostTried = 10

func (j *judge) allowedIn(list []candidate, borrowing bool) bool {
	entitled := !j.Fair || j.entitled()
	reached := make([]bool, 1<<len(list))
	reached[0] = true
	for set := range reached {
		if !reached[set] {
			continue
		}
		var gone []candidate
		for i, c := range list {
			if set>>i&1 == 1 {
				gone = append(gone, c)
			}
		}
		j.takeAll(gone, 1)
		fits := set > 0 && j.fits(borrowing)
		for i, c := range list {
			if set>>i&1 == 0 && !c.whole && j.mayBeTaken(c, borrowing) && !j.limited(gone, c) && j.keepsShares(gone, c) && (c.class == ownQueue || entitled || j.passes(c, j.Strategies)) {
				reached[set|1<<i] = true
			}
		}
		for i := len(gone) - 1; i >= 0; i-- {
			j.take(gone[i], -1)
		}
		if fits {
			return true
		}
	}
	return false
}
