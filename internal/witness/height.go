package witness

// "BorrowHeight says how far up the cohort tree the request borrows once the victims are gone."

// borrowHeight is the largest height of all that is requested. As in Kueue, a request of zero borrows
// where the queue is over its nominal quota already.
func borrowHeight(w *world) (height int) {
	for _, a := range w.total() {
		height = max(height, w.own.heightFor(a.FlavorResource(), a.Amount))
	}
	return height
}

// heightFor: "0 within the nominal quota; else the height of the lowest cohort whose quota holds the
// request, or the height of the root if none does." Of the request a level takes what is idle there.
func (n *node) heightFor(fr column, amount int64) int {
	if n.parent == nil || plus(n.usage(fr), amount) <= n.quotas[fr].Nominal {
		return 0
	}
	for {
		amount = minus(amount, n.idle(fr))
		n = n.parent
		if n.parent == nil || plus(n.usage(fr), amount) <= n.subtreeQuota(fr) {
			return n.height()
		}
	}
}

// height is the number of steps to the deepest queue below; a cohort without members has none.
func (n *node) height() (steps int) {
	for _, child := range n.children {
		steps = max(steps, 1+child.height())
	}
	return steps
}
