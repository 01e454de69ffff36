package records

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// pods is a table of pods, as Alibaba's cluster trace of 2023 (openb) has it. Its pods have no queues: their shapes are
// dealt to four.
var pods = table{
	name:    "openb",
	columns: []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "qos", "creation_time", "deletion_time", "scheduled_time"},
	check: func(c *collector, columns map[string]int) error {
		c.CountsCPU, c.Unowned = true, true
		return ranked(c, columns)
	},
	read: func(r *row) (Job, bool) {
		if isNone(r.text("scheduled_time")) {
			r.counts[neverRan]++
			return Job{}, false
		}
		started, ended := r.number("scheduled_time", 0, maxSeconds), r.number("deletion_time", 0, maxSeconds)
		j := Job{ID: r.text("name"), Submit: r.number("creation_time", 0, maxSeconds), Work: max(1, ended-started),
			CPU: r.number("cpu_milli", 0, 1<<40)}
		j.GPU = r.number("num_gpu", 0, maxGPUs) * r.number("gpu_milli", 0, 1000)
		j.Priority = r.word("qos", map[string]int64{"Guaranteed": 9999, "LS": 9500, "Burstable": 7500, "BE": 5500})
		shape := strings.Join([]string{r.text("cpu_milli"), r.text("memory_mib"), r.text("num_gpu"), r.text("gpu_milli"), r.text("qos")}, "|")
		j.Queue = fmt.Sprintf("queue-%d", Hash(shape)%4)
		return j, true
	},
}

// Hash is that by which what records do not say is dealt.
func Hash(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}
