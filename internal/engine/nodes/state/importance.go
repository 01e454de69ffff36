package state

import "cmp"

// CompareUnits is the order of importance, most important first: priority; groups of groups before groups and
// their pods, these before others; more pods;
// earlier start; pods of the minimum of their group before its surplus; smaller UID, then ID, of the first pod.
// (KEP-5710, step "sort", with the tie-breaks as built in v1.37.)
func CompareUnits(a, b *Unit) int {
	switch {
	case a == b:
		return 0
	case a.Priority != b.Priority:
		return cmp.Compare(b.Priority, a.Priority)
	case a.Rank != b.Rank:
		return cmp.Compare(b.Rank, a.Rank)
	case len(a.Pods) != len(b.Pods):
		return cmp.Compare(len(b.Pods), len(a.Pods))
	case a.Started != b.Started:
		return cmp.Compare(a.Started, b.Started)
	case a.surplus != b.surplus:
		if b.surplus {
			return -1
		}
		return 1
	}
	return compareUIDs(a.Pods[0], b.Pods[0])
}

func compareUIDs(a, b *Pod) int {
	return cmp.Or(cmp.Compare(a.Facts.UID, b.Facts.UID), cmp.Compare(a.Facts.ID, b.Facts.ID))
}

// ComparePods orders pods by ID.
func ComparePods(a, b *Pod) int { return cmp.Compare(a.Facts.ID, b.Facts.ID) }
