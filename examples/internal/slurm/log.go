package slurm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"
)

// sign is a line of the log: a job is preempted for another.
type sign struct {
	at       int64 // zero: the line has no date
	victim   string
	by       string // NUMBER_*: a task of that array
	grace    int64  // seconds that it still gets; zero: it is stopped at once
	requeued bool
}

// Slurm's words, from "preempted job 7 has been killed" (before 18.08, "job 7" for "JobId=7") on. A job of an array is JobId=7_2(9), a
// part of a heterogeneous one JobId=7+1(8). A job with a grace time is told at debug level, and ended by its time limit.
const (
	jobText = `(?:JobId=|job )(\d+(?:[_+](?:\d+|\*))?)(?:\(\d+\))?`
	why     = ` to reclaim resources for ` + jobText + `\s*$`
)

var (
	stoppedText = regexp.MustCompile(`preempted ` + jobText + ` (?:has been (killed|requeued|checkpointed)|(suspended) by gang scheduler)` + why)
	graceText   = regexp.MustCompile(`setting (\d{1,9}) sec preemption grace time for ` + jobText + why)
	// The part of a date without its zone: sacct prints the clock of the same machine.
	dateText = regexp.MustCompile(`^\[?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s`)
)

// maxLine is how long a line of a log may be; a longer one is not read.
const maxLine = 64 << 10

// readLog takes the lines in that name who preempted whom.
func (h *History) readLog(text io.Reader) error {
	lines := bufio.NewReaderSize(text, maxLine)
	undated := 0
	for {
		line, err := lines.ReadSlice('\n')
		for long := errors.Is(err, bufio.ErrBufferFull); errors.Is(err, bufio.ErrBufferFull); {
			if _, err = lines.ReadSlice('\n'); long {
				line = nil
			}
		}
		var s sign
		if m := stoppedText.FindSubmatch(line); m != nil {
			s = sign{victim: string(m[1]), by: string(m[4]), requeued: string(m[2]) == "requeued"}
		} else if m := graceText.FindSubmatch(line); m != nil {
			s = sign{victim: string(m[2]), by: string(m[3])}
			s.grace, _ = strconv.ParseInt(string(m[1]), 10, 64) // digits, few of them
		}
		if s.victim != "" {
			if m := dateText.FindSubmatch(line); m != nil {
				if at, err := time.Parse("2006-01-02T15:04:05", string(m[1])); err == nil {
					s.at = at.Unix()
				}
			}
			if s.at == 0 {
				undated++
			}
			h.signs = append(h.signs, s)
		}
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	h.logged = true
	if undated > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d lines of the log have no date: they count where a job was preempted once", undated))
	}
	return nil
}
