package records

import "strings"

// classes is a table of jobs in classes, with minutes, as the artifact of Chronus (SoCC 2021) has it.
var classes = table{
	name:    "Chronus",
	columns: []string{"job_id", "user", "num_gpu", "submit_time", "duration", "job_type"},
	check:   ranked,
	read: func(r *row) (Job, bool) {
		j := Job{ID: r.text("job_id"), Queue: strings.TrimPrefix(r.text("user"), "vc_"), Submit: 60 * r.number("submit_time", 0, maxInstant/60),
			Work: 60 * r.number("duration", 0, maxSeconds/60), GPU: r.milli("num_gpu", maxGPUs)}
		if j.Queue == "" {
			r.bad("user", "a name")
		}
		j.Priority = r.word("job_type", map[string]int64{"strict": 1000, "soft": 100, "best": 0})
		return j, true
	},
}

// ranked says that the format has priorities.
func ranked(c *collector, _ map[string]int) error {
	c.Unranked = false
	return nil
}
