package records

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Run is a row of sacct: a run of a job, or that it waits for one.
type Run struct {
	Job            // its Work is not set
	Raw     string // JobIDRaw; empty: there is no such column
	State   string // as Slurm says it, without what follows it
	Start   int64  // seconds since 1970; zero: it did not start
	End     int64  // zero: it did not end
	Nodes   string // an expression, as node[01-04]; empty: none
	Count   int64  // of its nodes, held or asked for; zero: it is not known
	Memory  int64  // MiB on all nodes; zero: it is not known
	Reserve string // the reservation; empty: none, or there is no such column
}

// WantRuns says how to get the rows that an audit reads.
const WantRuns = "want what this prints: sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-01-01 " +
	"--format JobID,JobIDRaw,Account,Partition,QOS,State,Submit,Eligible,Start,End,AllocTRES,ReqTRES,Priority,NodeList,Reservation"

// Runs reads each row of sacct --parsable2, in the order of the text. It fails on what is no such table. Lost counts odd rows, which
// are left out with a note.
func Runs(text io.Reader, name string) (runs []Run, lost int, notes []string, err error) {
	c := newCollector(name)
	err = readRows(text, split('|'), c, table{
		name: "sacct", columns: []string{"jobid", "submit"}, spares: true, want: WantRuns,
		check: func(c *collector, columns map[string]int) error {
			c.repeats = true
			for _, need := range []string{"State", "Start", "End", "NodeList", "AllocTRES"} {
				if _, has := columns[strings.ToLower(need)]; !has {
					return errors.New("there is no column " + need + ": " + WantRuns)
				}
			}
			return nil
		},
		read: func(r *row) (Job, bool) {
			if run, ok := r.run(); ok && !r.odd {
				runs = append(runs, run)
			}
			return Job{}, false
		},
	})
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, o := range c.out {
		lost += int(o.rows)
	}
	return runs, lost, c.told(), nil
}

// run is the run of a row.
func (r *row) run() (run Run, ok bool) {
	if run.ID = r.text("jobid"); strings.Contains(run.ID, ".") {
		r.counts[steps]++
		return run, false
	}
	run.Raw, run.QOS, run.Partition, run.Reserve = r.text("jobidraw"), r.text("qos"), r.text("partition"), r.text("reservation")
	if run.Queue = r.text("account"); run.Queue == "" {
		run.Queue = run.Partition
	}
	run.State, _, _ = strings.Cut(r.text("state"), " ")
	is, known := stages[run.State]
	switch {
	case !known:
		r.bad("state", "a state of Slurm, as COMPLETED")
		return run, false
	case is == ranElsewhere:
		r.counts[elsewhere]++
		return run, false
	case run.ID == "":
		r.bad("jobid", "a number")
		return run, false
	}
	run.Submit = r.first(r.times("submit", "eligible", "start")...)
	for column, to := range map[string]*int64{"start": &run.Start, "end": &run.End} {
		if !isNone(r.text(column)) {
			*to = r.when(column)
		}
	}
	switch {
	case is == stopped:
		run.Preempted = 1
	case is == goesOn || run.State == "PENDING" || run.State == "SUSPENDED":
		run.End = 0 // when its time is over
	}
	if is == waits && run.State == "PENDING" {
		run.Start = 0 // when it is expected to start
	}
	if run.End > 0 && run.End < run.Start {
		r.bad("end", "a time that is not before "+r.named("start")+" ("+r.text("start")+")")
	}
	r.amounts(&run.Job)
	for _, column := range []string{"alloctres", "reqtres"} {
		for part := range strings.SplitSeq(r.text(column), ",") {
			switch name, value, _ := strings.Cut(part, "="); {
			case name == "mem" && run.Memory == 0:
				run.Memory = mebibytes(value)
			case name == "node" && run.Count == 0:
				n, _ := tresCount(value)
				run.Count = n / 1000
			}
		}
	}
	if run.Nodes = r.text("nodelist"); run.Nodes == "None assigned" || isNone(run.Nodes) {
		run.Nodes = ""
	}
	if r.text("priority") != "" {
		run.Priority = r.number("priority", -maxPriority, maxPriority)
	}
	run.ID, run.Raw, run.Nodes = strings.Clone(run.ID), strings.Clone(run.Raw), r.intern(run.Nodes)
	run.Queue, run.QOS, run.Partition, run.State, run.Reserve = r.intern(run.Queue), r.intern(run.QOS), r.intern(run.Partition), r.intern(run.State), r.intern(run.Reserve)
	return run, true
}

// mebibytes reads an amount of memory: 64G, 1500M, or MiB without a unit; zero: it is none.
func mebibytes(text string) int64 {
	kibibytes := int64(1 << 10)
	if n := len(text); n > 0 {
		units := map[byte]int64{'K': 1, 'M': 1 << 10, 'G': 1 << 20, 'T': 1 << 30, 'P': 1 << 40}
		if unit, has := units[text[n-1]]; has {
			text, kibibytes = text[:n-1], unit
		}
	}
	n, ok := milli(text)
	if !ok || n > math.MaxInt64/kibibytes {
		return 0
	}
	return n * kibibytes / 1000 >> 10
}

// TRES reads a list of trackable resources: CPUs and GPUs in thousandths, memory in MiB.
func TRES(text string) (cpu, gpu, memory int64, ok bool) {
	var j Job
	r := row{collector: newCollector(""), columns: map[string]int{"tres": 0}, header: []string{"tres"}, fields: []string{text}}
	r.tres("tres", &j)
	for part := range strings.SplitSeq(text, ",") {
		if value, is := strings.CutPrefix(part, "mem="); is {
			memory = mebibytes(value)
		}
	}
	return j.CPU, j.GPU, memory, !r.odd
}

// Span reads a length, as 30:00 or 1-00:00:00, in seconds.
func Span(text string) (seconds int64, ok bool) {
	n, _, ok := span(text)
	return n, ok
}
