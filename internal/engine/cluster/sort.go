package cluster

// inLane is a workload with its sort keys.
type inLane struct {
	lane               Lane
	priority, reserved int64
	workload           *Workload
}

// before is the order of lanes, then [compareInLane].
func (a *inLane) before(b *inLane) bool {
	switch {
	case a.lane != b.lane:
		return a.lane < b.lane
	case a.priority != b.priority:
		return a.priority < b.priority
	case a.reserved != b.reserved:
		return a.reserved > b.reserved
	}
	return CompareIDs(a.workload, b.workload) < 0
}

// shortRun is the length of the runs that are sorted by insertion before they are merged.
const shortRun = 8

// sortByLane returns the list sorted, and the memory that it used, which begins with that of
// the list. It merges runs. slices.SortFunc takes longer (BenchmarkSortByLane): it calls the
// comparison through a pointer and copies what it compares.
func sortByLane(list []inLane) (sorted, room []inLane) {
	n := len(list)
	for from := 0; from < n; from += shortRun {
		insertInOrder(list[from:min(from+shortRun, n)])
	}
	if n <= shortRun {
		return list, list
	}
	room = append(list, list...)
	sorted, spare := room[:n], room[n:]
	for run := shortRun; run < n; run *= 2 {
		for i := 0; i < n; i += 2 * run {
			middle, end := min(i+run, n), min(i+2*run, n)
			merge(spare[i:end], sorted[i:middle], sorted[middle:end])
		}
		sorted, spare = spare, sorted
	}
	return sorted, room
}

func insertInOrder(list []inLane) {
	for i := 1; i < len(list); i++ {
		item, at := list[i], i
		for ; at > 0 && item.before(&list[at-1]); at-- {
			list[at] = list[at-1]
		}
		list[at] = item
	}
}

// merge writes two sorted lists to one that is as long as both.
func merge(to, a, b []inLane) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].before(&a[0]) {
			to[0], b = b[0], b[1:]
		} else {
			to[0], a = a[0], a[1:]
		}
		to = to[1:]
	}
	copy(to[copy(to, a):], b)
}
