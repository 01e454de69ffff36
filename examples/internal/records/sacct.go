package records

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// wantSacct says how to get records of Slurm.
const wantSacct = "want what this prints: sacct --allusers --allocations --duplicates --parsable2 --starttime 2026-01-01 " +
	"--format JobID,Account,Partition,QOS,State,Submit,Start,End,ElapsedRaw,AllocTRES,Priority"

// sacct is what sacct --parsable2 of Slurm prints, in whatever order of columns. An odd row costs itself alone.
var sacct = table{
	name:    "sacct",
	columns: []string{"jobid", "submit"},
	spares:  true,
	want:    wantSacct,
	check: func(c *collector, columns map[string]int) error {
		c.Ordered = true
		c.repeats = true // sacct --duplicates
		has := func(column string) bool { _, ok := columns[column]; return ok }
		switch {
		case !has("account") && !has("partition"):
			return errors.New("there is no column Account, nor Partition: " + wantSacct)
		case !has("alloctres") && !has("reqtres"):
			return errors.New("there is no column AllocTRES, nor ReqTRES: " + wantSacct)
		case !has("elapsedraw") && !has("elapsed") && !(has("start") && has("end")):
			return errors.New("there is no column ElapsedRaw, nor Elapsed, nor Start and End: " + wantSacct)
		}
		return nil
	},
	read: readSacct,
}

// stage is what a state of Slurm says of a run.
type stage int

const (
	ended stage = iota
	stopped
	goesOn
	waits
	ranElsewhere
)

// stages are the states of Slurm (job_state.c), and what sacct prints where it has none.
var stages = map[string]stage{
	"": ended, "COMPLETED": ended, "FAILED": ended, "CANCELLED": ended, "TIMEOUT": ended, "NODE_FAIL": ended, "OUT_OF_MEMORY": ended,
	"BOOT_FAIL": ended, "DEADLINE": ended, "LAUNCH_FAILED": ended, "RECONFIG_FAIL": ended, "SPECIAL_EXIT": ended,
	"PREEMPTED": stopped,
	"RUNNING":   goesOn, "COMPLETING": goesOn, "CONFIGURING": goesOn, "RESIZING": goesOn, "STAGE_OUT": goesOn, "SIGNALING": goesOn,
	"PENDING": waits, "REQUEUED": waits, "REQUEUE_HOLD": waits, "REQUEUE_FED": waits, "RESV_DEL_HOLD": waits, "SUSPENDED": waits, "STOPPED": waits,
	"REVOKED": ranElsewhere,
}

// maxRunning is how many seconds a job may run that has not ended. Slurm loses the end of some jobs.
const maxRunning = 366 * 24 * 3600

func readSacct(r *row) (j Job, ok bool) {
	j.ID = r.text("jobid")
	if strings.Contains(j.ID, ".") {
		r.counts[steps]++ // of a job that has a row of its own
		return j, false
	}
	j.QOS, j.Partition = r.text("qos"), r.text("partition")
	if j.Queue = r.text("account"); j.Queue == "" {
		j.Queue = j.Partition
	}
	state, _, _ := strings.Cut(r.text("state"), " ") // CANCELLED by 1000
	is, known := stages[state]
	switch {
	case !known:
		r.bad("state", "a state of Slurm, as COMPLETED")
		return j, false
	case is == waits:
		r.counts[unfinished]++
		return j, false
	case is == ranElsewhere:
		r.counts[elsewhere]++
		return j, false
	case r.has("start") && isNone(r.text("start")):
		r.counts[neverRan]++
		return j, false
	case j.Queue == "":
		r.bad("account", "a name")
	case j.ID == "":
		r.bad("jobid", "a number")
	}
	j.Submit = r.first(r.times("submit", "eligible", "start")...)
	lasts := r.length(&j, is)
	r.amounts(&j)
	if r.has("priority") {
		before := len(r.mended)
		j.Priority = r.first(func() int64 {
			if r.text("priority") == "" {
				r.counts[unranked]++
				return 0
			}
			return r.number("priority", -maxPriority, maxPriority)
		}, func() int64 { return 0 })
		for i := range r.mended[before:] {
			r.mended[before+i].kind += ", taken as 0"
		}
	}
	switch {
	case r.odd:
	case !lasts:
		start := r.when("start")
		if r.last = start; !r.odd {
			r.open = append(r.open, openRun{Job: j, start: start, line: r.line})
		}
		return j, false
	case is == goesOn:
		r.counts[stillRuns]++
	case is == stopped:
		j.Preempted, j.PreemptedFor, j.cut = 1, j.Work, true
	}
	r.last = j.Submit + j.Work
	if start, _, _, ok := instant(r.text("start")); ok {
		r.last = start + j.Work
	}
	return j, true
}

// times are readings of the columns that are there.
func (r *row) times(columns ...string) (readings []func() int64) {
	for i, column := range columns {
		if i == 0 || !isNone(r.text(column)) {
			readings = append(readings, func() int64 { return r.when(column) })
		}
	}
	return readings
}

// length sets how long a job ran. It reports false if it goes on to the end of the records, and nothing else is known.
func (r *row) length(j *Job, is stage) (known bool) {
	var readings []func() int64
	var last string
	for _, column := range []string{"elapsedraw", "elapsed"} {
		if r.text(column) != "" {
			last = column
			readings = append(readings, func() int64 { return r.seconds(column) })
		}
	}
	dated := r.has("start") && !isNone(r.text("end"))
	switch {
	case dated:
		readings = append(readings, func() int64 { return r.between("start", "end") })
	case len(readings) == 0 && is == goesOn && r.has("start"):
		return false
	case len(readings) == 0:
		r.bad("end", "the time at which the job ended")
		return true
	}
	j.Work = r.first(readings...)
	if dated && last != "" && len(r.mended) == 0 { // a time that is odd is told, also where the length stands beside it
		r.first(readings[len(readings)-1], func() int64 { return 0 })
	}
	if is == goesOn && j.Work > maxRunning {
		r.bad(cmp.Or(last, "end"), "at most a year of a job that still runs: sacctmgr show runawayjobs lists those that Slurm lost")
	}
	return true
}

// amounts sets what a job held, or else what it asked for.
func (r *row) amounts(j *Job) {
	var readings []func() int64
	for _, column := range []string{"alloctres", "reqtres"} {
		if r.text(column) != "" {
			readings = append(readings, func() int64 {
				j.GPU, j.CPU, j.Flavor = 0, 0, ""
				r.tres(column, j)
				return 0
			})
		}
	}
	if len(readings) > 0 {
		r.first(readings...)
	}
}

// tres reads a list of trackable resources: billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=64G,node=1.
func (r *row) tres(column string, j *Job) {
	var all, typed, most int64
	kinds := 0
	for part := range strings.SplitSeq(r.text(column), ",") {
		name, value, found := strings.Cut(part, "=")
		kind, isTyped := strings.CutPrefix(name, "gres/gpu:")
		if !found && part != "" {
			r.bad(column, "a list as in cpu=8,gres/gpu=4,mem=64G")
			return
		}
		if !isTyped && name != "gres/gpu" && name != "cpu" {
			continue
		}
		n, ok := tresCount(value)
		if !ok || name == "cpu" && n > maxCPUs*1000 || name != "cpu" && n > maxGPUs*1000 {
			r.bad(column, fmt.Sprintf("a number of %s", name))
			return
		}
		switch {
		case name == "cpu":
			j.CPU = n
		case !isTyped:
			all = n
		default:
			kinds++
			if typed += n; n > most {
				most, j.Flavor = n, kind
			}
		}
	}
	if j.GPU = max(all, typed); kinds > 1 {
		r.counts[manyFlavors]++
	}
}

// tresCount reads a count: 8, or with a unit as Slurm prints large ones: 1.50K.
func tresCount(text string) (int64, bool) {
	if n, ok := milli(text); ok {
		return n, true
	}
	if len(text) > 1 {
		unit := map[byte]int64{'K': 1000, 'M': 1000_000}[text[len(text)-1]]
		if n, err := strconv.ParseFloat(text[:len(text)-1], 64); err == nil && unit > 0 && n >= 0 && n < 1e9 {
			return int64(n * float64(unit*1000)), true
		}
	}
	return 0, false
}
