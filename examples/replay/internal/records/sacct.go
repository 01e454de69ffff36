package records

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sacct is what sacct --parsable2 of Slurm prints, in whatever order of columns.
var sacct = table{
	name:    "sacct",
	columns: []string{"jobid", "submit"},
	check: func(c *collector, columns map[string]int) error {
		c.Ordered = true
		c.repeats = true // sacct --duplicates
		has := func(column string) bool { _, ok := columns[column]; return ok }
		switch {
		case !has("account") && !has("partition"):
			return errors.New("there is no column Account, nor Partition")
		case !has("alloctres") && !has("reqtres"):
			return errors.New("there is no column AllocTRES, nor ReqTRES")
		case !has("elapsedraw") && !has("elapsed") && !(has("start") && has("end")):
			return errors.New("there is no column ElapsedRaw, nor Elapsed, nor Start and End")
		}
		return nil
	},
	read: readSacct,
}

func readSacct(r *row) (j Job, ok bool) {
	j.ID = r.text("jobid")
	if strings.Contains(j.ID, ".") {
		r.counts[steps]++ // of a job that has a row of its own
		return j, false
	}
	if j.Queue = r.text("account"); j.Queue == "" {
		j.Queue = r.text("partition")
	}
	if j.Queue == "" {
		r.bad("account", "a name")
	}
	state, _, _ := strings.Cut(r.text("state"), " ") // CANCELLED by 1000
	switch state {
	case "PENDING", "REQUEUED", "SUSPENDED":
		r.counts[unfinished]++
		return j, false
	case "RUNNING", "COMPLETING", "RESIZING", "STAGE_OUT":
		r.counts[stillRuns]++
	}
	if r.has("start") && isNone(r.text("start")) {
		r.counts[neverRan]++
		return j, false
	}
	j.Submit = r.when("submit")
	switch {
	case r.text("elapsedraw") != "":
		j.Work = r.seconds("elapsedraw")
	case r.text("elapsed") != "":
		j.Work = r.seconds("elapsed")
	default:
		j.Work = r.between("start", "end")
	}
	if r.has("start") && !isNone(r.text("end")) {
		r.between("start", "end") // also where the length stands beside them
	}
	column := "alloctres"
	if r.text(column) == "" {
		column = "reqtres"
	}
	r.tres(column, &j)
	if r.text("priority") != "" {
		j.Priority = r.number("priority", -maxPriority, maxPriority)
	}
	return j, true
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
