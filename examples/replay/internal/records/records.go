// Package records reads what clusters record of their jobs, each format in a file of its own, into one type.
//
// Every fault of a file is told, with its line and field, up to a bound. What is left out or changed is counted, and said.
package records

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
)

// Job is a job as it was submitted, and what it took.
type Job struct {
	ID, Queue string
	Priority  int64
	GPU, CPU  int64  // in thousandths
	Flavor    string // of its GPUs; empty: it is not known
	Submit    int64  // seconds since the start of the world
	Work      int64  // seconds that it has to run, without start-up and without what is lost
}

// File is the records of a file.
type File struct {
	Format string
	Jobs   []Job // by submission, then ID
	// Notes say what was left out or changed, in parts of a sentence.
	Notes []string
	// Unranked says that the records have no priorities.
	Unranked bool
	// Ordered says that the priorities order the queue, and give no right to preempt.
	Ordered bool
	// CountsCPU says that the format is about CPUs as much as about GPUs.
	CountsCPU bool
	// Unowned says that the records have no queues: those of the jobs are invented.
	Unowned bool
}

// Limits of records: times, what one job asks for, and the work of all jobs, in thousandths of a GPU × seconds. Sums of
// what is lost then stay far from the end of 64 bits.
const (
	maxSeconds  = 10 * 366 * 24 * 3600
	maxInstant  = 1 << 36 // seconds since 1970, beyond the year 4000
	maxGPUs     = 100_000
	maxCPUs     = 1 << 30
	maxPriority = 1 << 40
	maxWork     = 1 << 50
)

// peeked is how much of a file tells its format.
const peeked = 64 << 10

// Read reads a file in any of the formats. It fails with every fault of the file, up to a bound, and on a file without jobs.
func Read(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return File{}, fmt.Errorf("%s: is a directory", path)
	}
	return read(f, path)
}

func read(source io.Reader, path string) (File, error) {
	text, err := input.Text(source)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	in := bufio.NewReaderSize(text, peeked)
	begin, err := in.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	c := newCollector(path)
	switch kindOf(begin) {
	case "philly":
		c.Format = "Philly"
		err = readPhilly(in, c)
	case "kueue":
		c.Format = "Kueue"
		err = readKueue(in, c)
	case "sacct":
		c.Format, c.first = "sacct", 1
		err = readRows(in, split('|'), c, sacct)
	default:
		c.first = 1
		err = readRows(in, commas, c, tables...)
	}
	if err != nil {
		c.faults.add("%s", err)
	}
	return c.file()
}

// kindOf tells the kind of a file by its begin; empty: a table with commas.
func kindOf(begin []byte) string {
	text := bytes.TrimSpace(begin)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case len(text) == 0:
	case text[0] == '[' && bytes.Contains(begin, []byte(`"attempts"`)) && bytes.Contains(begin, []byte(`"jobid"`)):
		return "philly"
	case bytes.ContainsRune([]byte("{[#%"), rune(text[0])), bytes.HasPrefix(text, []byte("---")):
		return "kueue"
	case bytes.Contains(line, []byte("|")):
		return "sacct"
	case !bytes.Contains(line, []byte(",")) && bytes.Contains(line, []byte(":")):
		return "kueue" // YAML
	}
	return ""
}

// maxFaults is how many faults of a file are told.
const maxFaults = 20

// faults are those of a file, in its order.
type faults struct {
	list []string
	more int
}

func (f *faults) add(format string, args ...any) {
	if len(f.list) < maxFaults {
		f.list = append(f.list, fmt.Sprintf(format, args...))
	} else {
		f.more++
	}
}

func (f *faults) err(path string) error {
	var all []error
	for _, text := range f.list {
		all = append(all, fmt.Errorf("%s: %s", path, text))
	}
	if f.more > 0 {
		all = append(all, fmt.Errorf("%s: and %d more faults", path, f.more))
	}
	return errors.Join(all...)
}

// why is a reason why a record is left out or changed. They are told in this order.
type why int

const (
	zeroLength why = iota
	neverRan
	asksNothing
	unfinished
	steps
	stillRuns
	again
	rounded
	manyFlavors
	otherEvents
	wasEvicted
	reasons
)

// words say a reason, before the number of jobs.
var words = [reasons]string{
	zeroLength:  "left out, of zero length",
	neverRan:    "left out, never ran",
	asksNothing: "left out, ask for nothing",
	unfinished:  "left out, wait or are suspended, so that their length is not known",
	steps:       "left out, steps of jobs",
	stillRuns:   "still running, taken to end where the records end",
	again:       "there again as they were requeued, the last run counts",
	rounded:     "with fractions of seconds, which are rounded",
	manyFlavors: "with GPUs of several kinds, taken as the kind that is the most",
	otherEvents: "left out, objects that are no Workload",
	wasEvicted:  "evicted before, their work includes what was lost then",
}

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
}

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

// add takes a job in; at names its place in messages. It returns what is wrong with it.
func (c *collector) add(j Job, at int) error {
	switch {
	case j.GPU == 0 && j.CPU == 0:
		c.counts[asksNothing]++
		return nil
	case j.Work == 0:
		c.counts[zeroLength]++
		return nil
	}
	if j.ID == "" {
		return errors.New("the name of the job is empty")
	}
	had, twice := c.seen[j.ID]
	if twice && !c.repeats {
		return fmt.Errorf("job %q is there twice, first at %d", j.ID, had.line)
	}
	j.Queue, j.Flavor = c.intern(j.Queue), c.intern(j.Flavor)
	if c.work += j.Work * max(j.GPU, j.CPU/1000); c.work > maxWork {
		c.work = 0
		return fmt.Errorf("all jobs up to here are more work than %d GPU-hours", maxWork/3600/1000)
	}
	if twice {
		c.counts[again]++
		before := &c.Jobs[had.job]
		j.ID, j.Submit = before.ID, min(j.Submit, before.Submit)
		*before = j
		return nil
	}
	j.ID = strings.Clone(j.ID)
	c.seen[j.ID] = place{int32(at), int32(len(c.Jobs))}
	c.Jobs = append(c.Jobs, j)
	return nil
}

// file returns what was read: times from the first submission if they were dates, jobs in their order.
func (c *collector) file() (File, error) {
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
	return notes
}
