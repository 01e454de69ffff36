// Package records reads what clusters record of their jobs, each format in a file of its own, into one type.
//
// Every fault of a file is told, with its line and field, up to a bound. What is left out or changed is counted, and said.
package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

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
	// QOS and Partition are those of Slurm; empty: the records have none.
	QOS, Partition string
	// Preempted is how many of its runs the records say were preempted, and PreemptedFor how many seconds these took.
	Preempted, PreemptedFor int64
	cut                     bool // its last run was preempted
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
	if form := SlurmForm(begin); form != "" {
		return File{}, fmt.Errorf("%s: line 1: this is %s: %s", path, form, wantSacct)
	}
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
	elsewhere
	unranked
	severalParts
	cutShort
	reasons
)

// words say a reason, before the number of jobs.
var words = [reasons]string{
	zeroLength:   "left out, of zero length",
	neverRan:     "left out, never ran",
	asksNothing:  "left out, ask for nothing",
	unfinished:   "left out, wait or are suspended, so that their length is not known",
	steps:        "left out, steps of jobs",
	stillRuns:    "still running, taken to end where the records end",
	again:        "there again as they were requeued, the last run counts",
	rounded:      "with fractions of seconds, which are rounded",
	manyFlavors:  "with GPUs of several kinds, taken as the kind that is the most",
	otherEvents:  "left out, objects that are no Workload",
	wasEvicted:   "evicted before, their work includes what was lost then",
	elsewhere:    "left out, ran in another cluster of the federation",
	unranked:     "without priority, taken as 0",
	severalParts: "parts of heterogeneous jobs, each joined with the others of its job",
	cutShort:     "preempted at last, their work is what they ran until then",
}
