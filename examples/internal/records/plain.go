package records

import "errors"

// plain is a table of one's own: the columns are known by any of their names.
var plain = table{
	name:    "a table",
	columns: []string{"job", "submit"},
	names: map[string][]string{
		"job":      {"job_id", "jobid", "id", "name"},
		"queue":    {"vc", "account", "tenant", "cluster_queue", "clusterqueue"},
		"submit":   {"submit_time", "submitted", "created", "creation_time"},
		"start":    {"start_time", "started"},
		"end":      {"end_time", "ended", "finished"},
		"duration": {"run_time", "runtime", "seconds", "elapsed"},
		"gpus":     {"gpu", "num_gpu", "gpu_num", "scale_factor"},
		"cpus":     {"cpu", "num_cpu", "cpu_num"},
		"flavor":   {"gpu_type", "gpu_model"},
	},
	check: func(c *collector, columns map[string]int) error {
		has := func(column string) bool { _, ok := columns[column]; return ok }
		switch c.Unowned = !has("queue"); {
		case !has("gpus") && !has("cpus"):
			return errors.New("there is no column gpus or cpus")
		case !has("duration") && !(has("start") && has("end")):
			return errors.New("there is no column duration, nor start and end")
		}
		return nil
	},
	read: func(r *row) (Job, bool) {
		j := Job{ID: r.text("job"), Queue: "all", Submit: r.when("submit"), Flavor: r.text("flavor")}
		if j.ID == "" {
			r.bad("job", "a name")
		}
		if r.has("queue") {
			if j.Queue = r.text("queue"); j.Queue == "" {
				r.bad("queue", "a name")
			}
		}
		if r.has("gpus") {
			j.GPU = r.milli("gpus", maxGPUs)
		}
		if r.has("cpus") {
			j.CPU = r.milli("cpus", maxCPUs)
		}
		if r.has("duration") {
			j.Work = r.seconds("duration")
		} else if isNone(r.text("start")) || isNone(r.text("end")) {
			r.counts[neverRan]++
			return j, false
		} else {
			j.Work = r.between("start", "end")
		}
		if r.has("priority") {
			j.Priority = r.number("priority", -maxPriority, maxPriority)
		}
		return j, true
	},
}
