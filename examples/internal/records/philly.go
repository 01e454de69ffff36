package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// phillyJob is a job of the file cluster_job_log that Microsoft released (philly-traces, ATC 2019): an array of jobs, each
// with its attempts. Times are texts, null or None.
type phillyJob struct {
	ID        string `json:"jobid"`
	VC        string `json:"vc"`
	Submitted string `json:"submitted_time"`
	Attempts  []struct {
		Start  string `json:"start_time"`
		End    string `json:"end_time"`
		Detail []struct {
			GPUs []string `json:"gpus"`
		} `json:"detail"`
	} `json:"attempts"`
}

// readPhilly reads the array job by job. The work of a job is that of all its attempts.
func readPhilly(in io.Reader, c *collector) error {
	rows := &boundedRows{in: in}
	d := json.NewDecoder(rows)
	rows.limit = maxRow
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("item 1: %w", err)
	}
	for c.line = 1; ; c.line++ {
		rows.limit = d.InputOffset() + 2*maxRow // what is read ahead counts, too
		if !d.More() {
			break
		}
		var j phillyJob
		err := d.Decode(&j)
		var wrong *json.UnmarshalTypeError
		switch {
		case rows.tooLong:
			return fmt.Errorf("item %d: %w", c.line, errLong)
		case errors.As(err, &wrong):
			c.faults.add("item %d: %s: want %s, found %s", c.line, wrong.Field, wrong.Type, wrong.Value)
			continue
		case err != nil:
			return fmt.Errorf("item %d: %w", c.line, err)
		}
		j.add(c)
	}
	_, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = errors.New("the array has no end")
	}
	if err != nil {
		return fmt.Errorf("item %d: %w", c.line, err)
	}
	c.line--
	return nil
}

func (j *phillyJob) add(c *collector) {
	odd := false
	when := func(field, text string) int64 {
		n, date, _, ok := instant(text)
		if !ok && !odd {
			odd = true
			c.faults.add("item %d: %s: %q: want a date", c.line, field, text)
		}
		c.dates = c.dates || date
		return n
	}
	record := Job{ID: j.ID, Queue: j.VC, Submit: when("submitted_time", j.Submitted)}
	if j.VC == "" && !odd {
		odd = true
		c.faults.add("item %d: vc: %q: want a name", c.line, j.VC)
	}
	ran := false
	for i, a := range j.Attempts {
		gpus := 0
		for _, d := range a.Detail {
			gpus += len(d.GPUs)
		}
		record.GPU = max(record.GPU, int64(gpus)*1000)
		if isNone(a.Start) || isNone(a.End) {
			continue
		}
		ran = true
		start, end := when(fmt.Sprintf("attempts[%d].start_time", i), a.Start), when(fmt.Sprintf("attempts[%d].end_time", i), a.End)
		if !odd && (end < start || end-start > maxSeconds) {
			odd = true
			c.faults.add("item %d: attempts[%d].end_time: %q: want a time from 0 to %d days after start_time (%s)",
				c.line, i, a.End, maxSeconds/86400, a.Start)
		}
		record.Work = min(maxSeconds, record.Work+end-start)
	}
	switch {
	case odd:
	case !ran:
		c.counts[neverRan]++
	default:
		if _, err := c.add(record, c.line); err != nil {
			c.faults.add("item %d: %v", c.line, err)
		}
	}
}
