package preemption

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/internal/base/fault"
)

// Valid returns the state without the items that [NewSnapshot] would refuse, and without those
// that depend on them: the workloads of a queue that is left out, the queues and cohorts under a
// cohort that is left out. Of two with the same name the first counts. NewSnapshot refuses a
// state as a whole; call Valid first to decide about the rest of a cluster. Report what was left
// out to an operator: its usage and its quota do not count.
//
// Fair shares are one item, which is left out last: one fault in the tree, or a queue of it that is left out, and there are none.
//
// A queue whose rules are left out stays, and has none: its policies decide.
//
// What was left out is in the order of the state: cohorts, queues, flavors, rules, workloads, fair shares. Of
// each item it is what is wrong with it, at least one fault; the paths begin with that of the
// item, for instance "queues[2]". The valid state shares the items with st. It fails with [Faults] if the fault is in no
// single item: the sum of usage exceeds [quota.MaxUsage]. A valid state costs what NewSnapshot
// costs. Each level of the tree on which something is left out costs the same again.
func (st State) Valid() (valid State, left []Faults, err error) {
	p := part{State: &st}
	for list, n := range [...]int{len(st.Cohorts), len(st.Queues), len(st.Flavors), len(st.Rules), len(st.Admitted)} {
		for i := range n {
			p.kept[list] = append(p.kept[list], i)
		}
	}
	for {
		valid = p.state()
		_, err := NewSnapshot(valid)
		faults, _ := err.(fault.List)
		if len(faults) == 0 {
			slices.SortFunc(p.left, func(a, b omission) int { return slices.Compare(a.at[:], b.at[:]) })
			for _, o := range p.left {
				left = append(left, o.faults)
			}
			return valid, left, nil
		}
		if !p.leaveOut(faults) {
			return State{}, nil, faults
		}
	}
}

// lists are the names of a state's lists in paths.
var lists = [...]string{"cohorts", "queues", "flavors", "rules", "admitted"}

// part is a part of a state.
type part struct {
	*State
	kept [len(lists)][]int // indexes of what is left, by list
	bare bool              // the fair shares are left out
	left []omission
}

type omission struct {
	faults Faults
	at     [2]int // list and index
}

func (p *part) state() (st State) {
	for _, i := range p.kept[0] {
		st.Cohorts = append(st.Cohorts, p.Cohorts[i])
	}
	for _, i := range p.kept[1] {
		st.Queues = append(st.Queues, p.Queues[i])
	}
	for _, i := range p.kept[2] {
		st.Flavors = append(st.Flavors, p.Flavors[i])
	}
	for _, i := range p.kept[3] {
		st.Rules = append(st.Rules, p.Rules[i])
	}
	for _, i := range p.kept[4] {
		st.Admitted = append(st.Admitted, p.Admitted[i])
	}
	if !p.bare {
		st.FairShares = p.FairShares
	}
	return st
}

// leaveOut leaves out the items with faults. It returns false if there are none.
func (p *part) leaveOut(faults fault.List) bool {
	before, at := len(p.left), map[[2]int]int{}
	for _, f := range faults {
		list, n, rest, ok := item(f.Path)
		if !ok {
			continue
		}
		i := p.kept[list][n]
		where := [2]int{list, i}
		path := lists[list] + "[" + strconv.Itoa(i) + "]"
		if _, again := at[where]; !again {
			at[where] = len(p.left)
			p.left = append(p.left, omission{at: where})
		}
		o := &p.left[at[where]]
		o.faults = append(o.faults, fault.Fault{Path: path + rest, Problem: f.Problem})
	}
	for list := range p.kept {
		p.kept[list] = slices.DeleteFunc(p.kept[list], func(i int) bool { _, gone := at[[2]int{list, i}]; return gone })
	}
	if len(p.left) == before && !p.bare {
		p.bare = true
		of := omission{at: [2]int{len(lists)}}
		for _, f := range faults {
			if strings.HasPrefix(f.Path, sharesPath) {
				of.faults = append(of.faults, f)
			}
		}
		if len(of.faults) > 0 {
			p.left = append(p.left, of)
		}
	}
	return len(p.left) > before
}

// sharesPath is the path of the fair shares.
const sharesPath = "fairShares"

// item splits the path of a fault: the list, the index in it, and the rest.
func item(path string) (list, i int, rest string, ok bool) {
	name, after, _ := strings.Cut(path, "[")
	number, rest, found := strings.Cut(after, "]")
	i, err := strconv.Atoi(number)
	list = slices.Index(lists[:], name)
	return list, i, rest, found && err == nil && list >= 0
}
