package records

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// place is where a job was first, and which of the jobs it is.
type place struct{ line, job int32 }

// collector collects the jobs of a file.
type collector struct {
	File
	faults
	path   string
	line   int // the last line, or item, that was read
	first  int // the first line, for a file without jobs
	seen   map[string]place
	queues map[string]string // each queue's name once
	counts [reasons]int64
	// repeats says that a job may be there again: the last row counts, from the first submission.
	repeats bool
	dates   bool // submissions are dates or seconds since 1970
	work    int64
	// spares says that odd rows are left out and named, where they do not refuse the file.
	spares        bool
	out, repaired oddities
	// open are runs without an end, by their jobs without a length; they end with the records, at latest.
	open   []openRun
	latest int64
}

// openRun is a job that runs where the records end.
type openRun struct {
	Job
	start int64
	line  int
}

func (c *collector) leaveOut(kind string, line int, text string) { c.out.note(kind, line, text) }

func newCollector(path string) *collector {
	return &collector{path: path, seen: map[string]place{}, queues: map[string]string{}, File: File{Unranked: true}}
}

// intern returns a text that does not keep the line alive that it is a part of.
func (c *collector) intern(text string) string {
	kept, ok := c.queues[text]
	if !ok {
		kept = strings.Clone(text)
		c.queues[kept] = kept
	}
	return kept
}

// add takes a job in; at names its place in messages. It reports whether it is kept, and returns what is wrong with it.
func (c *collector) add(j Job, at int) (kept bool, err error) {
	switch {
	case j.GPU == 0 && j.CPU == 0:
		c.counts[asksNothing]++
		return false, nil
	case j.Work == 0:
		c.counts[zeroLength]++
		return false, nil
	}
	if j.ID == "" {
		return false, errors.New("the name of the job is empty")
	}
	had, twice := c.seen[j.ID]
	if twice && !c.repeats {
		return false, fmt.Errorf("job %q is there twice, first at %d", j.ID, had.line)
	}
	j.Queue, j.Flavor, j.QOS, j.Partition = c.intern(j.Queue), c.intern(j.Flavor), c.intern(j.QOS), c.intern(j.Partition)
	work := c.work + j.Work*max(j.GPU, j.CPU/1000)
	if work > maxWork {
		if !c.spares {
			c.work = 0 // told once
		}
		return false, fmt.Errorf("all jobs up to here are more work than %d GPU-hours", maxWork/3600/1000)
	}
	c.work = work
	if twice {
		c.counts[again]++
		before := &c.Jobs[had.job]
		j.ID, j.Submit = before.ID, min(j.Submit, before.Submit)
		j.Preempted, j.PreemptedFor = j.Preempted+before.Preempted, j.PreemptedFor+before.PreemptedFor
		*before = j
		return true, nil
	}
	j.ID = strings.Clone(j.ID)
	c.seen[j.ID] = place{int32(at), int32(len(c.Jobs))}
	c.Jobs = append(c.Jobs, j)
	return true, nil
}

// file returns what was read: times from the first submission if they were dates, jobs in their order.
func (c *collector) file() (File, error) {
	if c.spares {
		c.finish()
	}
	c.seen = nil
	if len(c.Jobs) == 0 && len(c.list) == 0 {
		c.faults.add("line %d: there are no jobs%s", max(c.line, c.first), strings.TrimSuffix(" ("+strings.Join(c.told(), "; ")+")", " ()"))
	}
	if len(c.list) > 0 {
		return File{}, c.faults.err(c.path)
	}
	earliest := slices.MinFunc(c.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }).Submit
	latest := slices.MaxFunc(c.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }).Submit
	span := latest
	if c.dates || latest > maxSeconds {
		span = latest - earliest
		for i := range c.Jobs {
			c.Jobs[i].Submit -= earliest
		}
		c.Notes = append(c.Notes, "the first job came at "+time.Unix(earliest, 0).UTC().Format(time.DateTime))
	}
	if span > maxSeconds {
		return File{}, fmt.Errorf("%s: from the first submission to the last are %d days: want %d at most", c.path, span/86400, maxSeconds/86400)
	}
	order := func(a, b Job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), strings.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(c.Jobs, order) {
		if !slices.IsSortedFunc(c.Jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) }) {
			c.Notes = append(c.Notes, "the jobs are not in the order of their submission: they are sorted")
		}
		slices.SortFunc(c.Jobs, order)
	}
	c.Notes = append(c.Notes, c.told()...)
	return c.File, nil
}

// told says what was counted.
func (c *collector) told() (notes []string) {
	for of, n := range c.counts {
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d", words[of], n))
		}
	}
	return slices.Concat(notes, c.out.told("left out"), c.repaired.told("repaired from what stands beside"))
}
