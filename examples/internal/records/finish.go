package records

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// finish does what needs all rows: runs that go on, jobs of another decade, jobs of several parts.
func (c *collector) finish() {
	c.end()
	c.window()
	c.join()
	for i := range c.Jobs {
		if c.Jobs[i].cut {
			c.counts[cutShort]++
		}
	}
}

// end lets the runs that go on, and of which no length is known, end where the records end.
func (c *collector) end() {
	for _, o := range c.open {
		o.Work = max(1, c.latest-o.start)
		if o.Work > maxRunning {
			c.leaveOut("Start", o.line, "a year before the last row, of a job that still runs: sacctmgr show runawayjobs lists those that Slurm lost")
			continue
		}
		switch kept, err := c.add(o.Job, o.line); {
		case err != nil:
			c.leaveOut("a job", o.line, err.Error())
		case kept:
			c.counts[stillRuns]++
		}
	}
}

// window leaves out the jobs that were submitted too far from the most of them.
func (c *collector) window() {
	at := make([]int64, len(c.Jobs))
	for i := range c.Jobs {
		at[i] = c.Jobs[i].Submit
	}
	slices.Sort(at)
	if len(at) == 0 || at[len(at)-1]-at[0] <= maxSeconds {
		return
	}
	var from int64
	for most, low, high := 0, 0, 0; high < len(at); high++ {
		for at[high]-at[low] > maxSeconds {
			low++
		}
		if n := high - low + 1; n >= most { // of windows with as many jobs the last
			most, from = n, at[low]
		}
	}
	c.Jobs = slices.DeleteFunc(c.Jobs, func(j Job) bool {
		far := j.Submit < from || j.Submit > from+maxSeconds
		if far {
			c.leaveOut("Submit", int(c.seen[j.ID].line), fmt.Sprintf("%s: more than %d days from most other jobs", time.Unix(j.Submit, 0).UTC().Format(time.DateOnly), maxSeconds/86400))
		}
		return far
	})
}

// join makes one job of the parts of a heterogeneous job, 7+0 and 7+1: they start, run and end together.
func (c *collector) join() {
	whole := map[string]int{} // by the ID without the part
	most := map[string]int64{}
	kept := c.Jobs[:0]
	for _, j := range c.Jobs {
		id, _, part := strings.Cut(j.ID, "+")
		if !part {
			kept = append(kept, j)
			continue
		}
		c.counts[severalParts]++
		i, has := whole[id]
		if !has {
			whole[id], most[id] = len(kept), j.GPU
			j.ID = id
			kept = append(kept, j)
			continue
		}
		k := &kept[i]
		if j.GPU > most[id] {
			most[id], k.Flavor = j.GPU, j.Flavor
		}
		k.GPU, k.CPU = k.GPU+j.GPU, k.CPU+j.CPU
		k.Submit, k.Work = min(k.Submit, j.Submit), max(k.Work, j.Work)
		k.Preempted, k.PreemptedFor = max(k.Preempted, j.Preempted), max(k.PreemptedFor, j.PreemptedFor)
	}
	c.Jobs = kept
}
