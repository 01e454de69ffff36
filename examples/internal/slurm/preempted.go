package slurm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/preemption/audit"
)

// Preemption is what is said of jobs that were preempted for one other.
type Preemption struct {
	At        int64
	Preemptor string // empty: it is not known
	Queue     string // its account, else its partition
	Started   int64  // zero: never, as far as the rows go
	Victims   []Victim
	// Verdict is Right, Fitted, TooMany or NotPermitted. Zero: see Unknown.
	Verdict audit.Verdict
	Unknown string
	Why     []string // the rules that keep victims
	Notes   []string // from what it is concluded

	by        *run
	concluded bool // by is from sacct alone
	lo, hi    int64
}

// Victim is a job that was preempted.
type Victim struct {
	Job         string
	CPU, GPU    int64 // what it held, in thousandths
	Since, Back int64 // when it started, and started again; zero: never
	Right       string
	Stays       bool

	run    *run
	lo, hi int64 // the time in which it was told
}

// together is within how many seconds Slurm stops victims that it chose at once.
const together = 1

// Preemptions judges each preemption. They are ordered by time, preemptor and victims.
func (h *History) Preemptions() (list []Preemption) {
	for _, r := range h.runs {
		if r.Preempted > 0 && r.End > 0 {
			list = append(list, h.single(r))
		}
	}
	order := func(a, b Preemption) int {
		return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Preemptor, b.Preemptor), strings.Compare(a.Victims[0].Job, b.Victims[0].Job))
	}
	slices.SortFunc(list, func(a, b Preemption) int { return cmp.Or(strings.Compare(a.Preemptor, b.Preemptor), order(a, b)) })
	joined := list[:0]
	for _, p := range list {
		if n := len(joined) - 1; n >= 0 && p.Preemptor != "" && joined[n].Preemptor == p.Preemptor && p.lo-joined[n].hi <= together {
			one := &joined[n] // perhaps, where a grace time leaves open when they were told
			one.Victims, one.Notes = append(one.Victims, p.Victims...), append(one.Notes, p.Notes...)
			one.lo, one.hi, one.concluded = min(one.lo, p.lo), max(one.hi, p.hi), one.concluded || p.concluded
			continue
		}
		joined = append(joined, p)
	}
	for i := range joined {
		p := &joined[i]
		slices.SortFunc(p.Victims, func(a, b Victim) int { return strings.Compare(a.Job, b.Job) })
		h.judge(p)
	}
	slices.SortFunc(joined, order)
	return joined
}

// single is the preemption of one run.
func (h *History) single(r *run) Preemption {
	p := Preemption{At: r.End, lo: r.End, hi: r.End}
	v := Victim{Job: r.ID, CPU: r.CPU, GPU: r.GPU, Since: r.Start, run: r}
	for _, later := range h.byJob[r.ID] {
		if later.Start >= r.End && later != r && v.Back == 0 {
			v.Back = later.Start
		}
	}
	p.Victims = []Victim{v}
	if grace := h.grace(r); grace > 0 {
		p.lo -= grace + apart
	}
	switch {
	case r.told == nil && h.logged:
		p.Unknown = "the log has no line that says for whom"
	case r.told == nil:
		p.Unknown = "sacct does not say for whom: the log of slurmctld does"
	default:
		p.Preemptor = r.told.by
		if r.told.at > 0 && r.told.grace > 0 {
			p.At, p.lo, p.hi = r.told.at, r.told.at-h.skew, r.told.at+h.skew
		}
	}
	p.Victims[0].lo, p.Victims[0].hi = p.lo, p.hi
	if p.Preemptor == "" {
		h.conclude(&p, r)
	}
	if array, is := strings.CutSuffix(p.Preemptor, "_*"); is {
		h.some(&p, h.tasks[array])
	} else {
		for _, x := range h.byJob[p.Preemptor] { // the run that follows, or else the one that waits, or an earlier one
			if p.by == nil || p.by.Start < p.lo && (x.Start == 0 || x.Start >= p.lo) {
				p.by = x
			}
		}
	}
	switch {
	case p.Preemptor == "":
	case p.by == nil:
		p.Unknown = cmp.Or(p.Unknown, "the preemptor, job "+p.Preemptor+", is not among the rows")
	default:
		p.Queue = p.by.Queue
		if p.by.Start >= p.lo {
			p.Started = p.by.Start
		}
	}
	return p
}

// some takes a task of an array as the preemptor, where the log does not say which: they are alike in all but when and where they ran.
func (h *History) some(p *Preemption, tasks []*run) {
	for _, x := range tasks {
		if p.by == nil {
			one := *x
			p.by, one.Start, one.nodes = &one, 0, nil
		}
		if x.QOS != p.by.QOS || x.Partition != p.by.Partition || x.Reserve != p.by.Reserve {
			p.by, p.Unknown = nil, "the log names the array "+p.Preemptor+", whose tasks differ"
			return
		}
		if x.Start >= p.lo && (p.by.Start == 0 || x.Start < p.by.Start) {
			p.by.Start = x.Start
		}
	}
}

// conclude names the preemptor from sacct alone: the only job that started on the victim's nodes when these were free, if it may
// preempt.
func (h *History) conclude(p *Preemption, r *run) {
	var found []*run
	for _, n := range r.nodes {
		for _, x := range h.on(n, r.End, r.End+soon) {
			if x.ID != r.ID && x.Start >= r.End && x.Start <= r.End+soon && x.Submit <= r.End && !slices.Contains(found, x.run) {
				found = append(found, x.run)
			}
		}
	}
	switch len(found) {
	case 0:
		p.Unknown += ", and nobody that waited then started on its nodes soon"
	case 1:
		if right, kept, _ := h.right(found[0], r); right == "" && kept != "" {
			p.Unknown += fmt.Sprintf(", and only %s started on its nodes soon, which may not preempt it", found[0].ID)
			return
		}
		p.Preemptor, p.concluded, p.Unknown = found[0].ID, true, ""
		p.Notes = append(p.Notes, "concluded from sacct: "+found[0].ID+" alone started on the nodes of "+r.ID+" soon")
	default:
		p.Unknown += fmt.Sprintf(", and %d jobs started on its nodes soon", len(found))
	}
}

// judge says whether it was right.
func (h *History) judge(p *Preemption) {
	doubt := ""
	for i := range p.Victims {
		v := &p.Victims[i]
		right, kept, unknown := "", "", ""
		if p.by != nil {
			right, kept, unknown = h.right(p.by, v.run)
		} else {
			kept = h.nobody(v.run)
		}
		if kept != "" && p.concluded {
			kept, unknown = "", cmp.Or(unknown, kept+": the log would say for whom")
		}
		v.Right = right
		exempt, near := h.exempt(v)
		for _, why := range []string{kept, exempt} {
			if why != "" {
				p.Why = append(p.Why, v.Job+": "+why)
			}
		}
		doubt = cmp.Or(doubt, unknown, near)
	}
	if len(p.Why) > 0 {
		p.Verdict, p.Unknown = audit.NotPermitted, ""
		return
	}
	if p.Unknown != "" || p.by == nil {
		return
	}
	verdict, open := h.need(p)
	if apart := p.hi-p.lo > together && len(p.Victims) > 1; apart && verdict != audit.Right && verdict != 0 {
		verdict, open = 0, "some could stay, if they were chosen at once: a grace time leaves that open"
	}
	switch {
	case verdict == audit.Fitted, verdict == audit.TooMany:
		p.Verdict = verdict
	case doubt != "":
		p.Unknown = doubt
	case open != "":
		p.Unknown = open
	default:
		p.Verdict = audit.Right
	}
}
