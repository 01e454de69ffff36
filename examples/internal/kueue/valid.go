package kueue

import (
	"slices"
	"strings"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// leaveOutInvalid leaves out, with a note, each object that the library would refuse the
// whole state for: no API server stores it, but a file may hold it.
func (b *Builder) leaveOutInvalid() {
	c := &b.c
	c.Cohorts = slices.DeleteFunc(c.Cohorts, func(x queue.Cohort) bool {
		alone := []queue.Cohort{x}
		if x.Parent != "" {
			alone[0].Name += " " // no name: it is not its own parent here
			alone = append(alone, queue.Cohort{Name: x.Parent})
		}
		return b.invalid("Cohort "+x.Name, queue.Validate(alone, nil))
	})
	b.cutCycles()
	c.Queues = slices.DeleteFunc(c.Queues, func(q queue.Queue) bool {
		var cohorts []queue.Cohort
		if q.Cohort != "" {
			cohorts = []queue.Cohort{{Name: q.Cohort}}
		}
		return b.invalid("ClusterQueue "+q.Name, queue.Validate(cohorts, []queue.Queue{q}))
	})
	c.Admitted = slices.DeleteFunc(c.Admitted, func(w workload.Workload) bool {
		return b.invalid("Workload "+w.ID, workload.Validate("workload", &w))
	})
	c.Pending = slices.DeleteFunc(c.Pending, func(p Pending) bool {
		w := p.Workload()
		if w.Queue == "" {
			w.Queue = "none" // that it names none is told when it is asked about
		}
		return b.invalid("Workload "+p.ID, workload.ValidatePending("workload", &w))
	})
}

func (b *Builder) invalid(what string, err error) bool {
	if err != nil {
		b.warn("%s: %v: left out", what, err)
	}
	return err != nil
}

// cutCycles takes the parents of cohorts that are a cycle away. (Kueue admits nothing in
// the queues under them.)
func (b *Builder) cutCycles() {
	parent := make(map[string]string, len(b.c.Cohorts))
	names := make([]string, len(b.c.Cohorts))
	for i, c := range b.c.Cohorts {
		parent[c.Name], names[i] = c.Parent, c.Name
	}
	inCycle := make(map[string]bool)
	for _, cycle := range Cycles(names, parent) {
		for _, n := range cycle {
			inCycle[n] = true
		}
		b.warn("Cohorts %s are a cycle, under which Kueue admits nothing: their parents are left out", strings.Join(cycle[:min(len(cycle), 10)], ", "))
	}
	for i := range b.c.Cohorts {
		if inCycle[b.c.Cohorts[i].Name] {
			c := &b.c.Cohorts[i]
			c.Parent = ""
			for j := range c.Quotas { // limits of a root bound nothing
				c.Quotas[j].BorrowingLimit, c.Quotas[j].LendingLimit = quota.Limit{}, quota.Limit{}
			}
		}
	}
}

// Cycles lists the cycles among names that have parents, in the order of the names.
func Cycles(names []string, parent map[string]string) (cycles [][]string) {
	seen := make(map[string]int, len(names)) // the walk that came by first
	for i, at := range names {
		for at != "" && seen[at] == 0 {
			seen[at] = i + 1
			at = parent[at]
		}
		if at == "" || seen[at] != i+1 {
			continue
		}
		cycle := []string{at}
		for n := parent[at]; n != at; n = parent[n] {
			cycle = append(cycle, n)
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}
