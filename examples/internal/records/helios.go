package records

// helios is the table cluster_log.csv that SenseTime released (HeliosData, SC 2021). Its column queue is how long a job
// waited, in seconds; its queues are virtual clusters.
var helios = table{
	name:    "Helios",
	columns: []string{"job_id", "vc", "gpu_num", "cpu_num", "node_num", "submit_time", "start_time", "end_time", "duration"},
	read: func(r *row) (Job, bool) {
		if isNone(r.text("start_time")) {
			r.counts[neverRan]++
			return Job{}, false
		}
		j := Job{ID: r.text("job_id"), Queue: r.text("vc"), Submit: r.when("submit_time"),
			GPU: r.milli("gpu_num", maxGPUs), CPU: r.milli("cpu_num", maxCPUs)}
		if j.Queue == "" {
			r.bad("vc", "a name")
		}
		j.Work = r.between("start_time", "end_time")
		if r.text("duration") != "" {
			j.Work = r.seconds("duration")
		}
		return j, true
	},
}
