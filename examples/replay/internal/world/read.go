package world

import (
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/internal/input"
)

// Limits of a trace: its times, what one job asks for, and the work of all jobs, in
// thousandths of a GPU × seconds. Sums of what is lost then stay far from the end of 64 bits.
const (
	maxSeconds = 10 * 366 * 24 * 3600
	maxGPUs    = 100_000
	maxWork    = 1 << 50
)

// format is the columns of a kind of trace.
type format struct {
	name    string
	columns []string // all must be there
	read    func(row) (Job, bool)
}

// The formats, by the columns that only they have.
var formats = []format{
	{"tenants", []string{"job", "vc", "submit_time", "scale_factor", "duration"}, func(r row) (Job, bool) {
		j := Job{ID: r.text("job"), Queue: r.text("vc"), Submit: r.number("submit_time", 0, maxSeconds), Work: r.number("duration", 1, maxSeconds),
			GPU: r.milli("scale_factor", maxGPUs)}
		if r.has("priority") {
			j.Priority = r.number("priority", -1<<31, 1<<31)
		} else {
			switch j.Priority = 100; hash("prio/"+j.ID) % 10 {
			case 0, 1, 2:
				j.Priority = 0
			case 9:
				j.Priority = 1000
			}
		}
		return j, j.GPU > 0
	}},
	{"classes", []string{"job_id", "user", "num_gpu", "submit_time", "duration", "job_type"}, func(r row) (Job, bool) {
		j := Job{ID: r.text("job_id"), Queue: strings.TrimPrefix(r.text("user"), "vc_"), Submit: 60 * r.number("submit_time", 0, maxSeconds/60),
			Work: 60 * r.number("duration", 1, maxSeconds/60), GPU: r.milli("num_gpu", maxGPUs)}
		j.Priority = r.word("job_type", map[string]int64{"strict": 1000, "soft": 100, "best": 0})
		return j, j.GPU > 0
	}},
	{"pods", []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "qos", "creation_time", "deletion_time", "scheduled_time"}, func(r row) (Job, bool) {
		if strings.TrimSpace(r.text("scheduled_time")) == "" {
			return Job{}, false // it never ran
		}
		started, ended := r.number("scheduled_time", 0, maxSeconds), r.number("deletion_time", 0, maxSeconds)
		j := Job{ID: r.text("name"), Submit: r.number("creation_time", 0, maxSeconds), Work: max(1, ended-started), CPU: r.number("cpu_milli", 0, 1<<40)}
		j.GPU = r.number("num_gpu", 0, maxGPUs) * r.number("gpu_milli", 0, 1000)
		j.Priority = r.word("qos", map[string]int64{"Guaranteed": 9999, "LS": 9500, "Burstable": 7500, "BE": 5500})
		shape := strings.Join([]string{r.text("cpu_milli"), r.text("memory_mib"), r.text("num_gpu"), r.text("gpu_milli"), r.text("qos")}, "|")
		j.Queue = fmt.Sprintf("queue-%d", hash(shape)%4)
		return j, j.GPU > 0 || j.CPU > 0
	}},
}

func hash(text string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(text))
	return h.Sum32()
}

// row is a line of a file with named columns. The first fault of a line is kept.
type row struct {
	fields  []string
	columns map[string]int
	fault   *error
}

func (r row) has(column string) bool { _, ok := r.columns[column]; return ok }

func (r row) text(column string) string { return r.fields[r.columns[column]] }

func (r row) bad(column, want string) {
	if *r.fault == nil {
		*r.fault = fmt.Errorf("%s: %q: want %s", column, r.text(column), want)
	}
}

func (r row) number(column string, least, most int64) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(r.text(column)), 10, 64)
	if err != nil || n < least || n > most {
		r.bad(column, fmt.Sprintf("a whole number, %d to %d", least, most))
	}
	return n
}

// milli reads a number with up to three decimals, in thousandths.
func (r row) milli(column string, most int64) int64 {
	whole, part, _ := strings.Cut(strings.TrimSpace(r.text(column)), ".")
	n, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	if err != nil || whole+part == "" || len(part) > 3 || strings.Trim(part, "0123456789") != "" || n < 0 || n > most*1000 {
		r.bad(column, fmt.Sprintf("a number, 0 to %d, in thousandths at most", most))
	}
	return n
}

func (r row) word(column string, words map[string]int64) int64 {
	n, ok := words[r.text(column)]
	if !ok {
		var names []string
		for name := range words {
			names = append(names, name)
		}
		slices.Sort(names)
		r.bad(column, "one of "+strings.Join(names, ", "))
	}
	return n
}

// maxRow bounds a row, and what is before it.
const maxRow = 1 << 20

var errLong = fmt.Errorf("more than %d MiB in one row", maxRow>>20)

// boundedRows fails when more is read than the limit.
type boundedRows struct {
	in          io.Reader
	read, limit int64
	tooLong     bool
}

func (b *boundedRows) Read(p []byte) (int, error) {
	if b.read >= b.limit {
		b.tooLong = true
		return 0, errLong
	}
	n, err := b.in.Read(p)
	b.read += int64(n)
	return n, err
}

// lines reads a file with a header, compressed or not, and gives each line to a function.
func lines(path string, header func(columns map[string]int) error, each func(row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := io.Reader(f)
	if strings.HasSuffix(path, ".gz") {
		if in, err = input.Unzip(in); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	rows := &boundedRows{in: in}
	reader := csv.NewReader(rows)
	reader.ReuseRecord = true
	var columns map[string]int
	line := 0
	for {
		rows.limit = reader.InputOffset() + maxRow
		fields, err := reader.Read()
		switch {
		case rows.tooLong:
			return fmt.Errorf("%s: line %d: %w", path, line+1, errLong)
		case errors.Is(err, io.EOF) && columns == nil:
			return fmt.Errorf("%s: line 1: there is no header", path)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			var at *csv.ParseError
			if errors.As(err, &at) {
				return fmt.Errorf("%s: line %d: %w", path, at.Line, at.Err)
			}
			return fmt.Errorf("%s: %w", path, err)
		case columns == nil:
			columns = map[string]int{}
			for i, name := range fields {
				columns[strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))] = i
			}
			line = 1
			if err := header(columns); err != nil {
				return fmt.Errorf("%s: line 1: %w", path, err)
			}
			continue
		}
		line, _ = reader.FieldPos(0)
		var fault error
		err = each(row{fields, columns, &fault})
		if fault != nil {
			err = fault
		}
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
}

// Read reads a trace. quotas is a file with the columns "vc" and "node num"; empty: the file
// vc_nodes.csv in the same directory, if there is one, else equal shares.
func Read(path, quotas string) (Trace, error) {
	t := Trace{Name: path}
	var is *format
	seen := map[string]int{}
	n, work := 1, int64(0)
	err := lines(path, func(columns map[string]int) error {
		i := slices.IndexFunc(formats, func(f format) bool {
			return !slices.ContainsFunc(f.columns, func(c string) bool { _, ok := columns[c]; return !ok })
		})
		if i < 0 {
			return errors.New("the columns are of no known format: want " + known())
		}
		is = &formats[i]
		return nil
	}, func(r row) error {
		n++
		j, ok := is.read(r)
		if *r.fault != nil || !ok {
			return nil
		}
		for column, text := range map[string]string{is.columns[0]: j.ID, is.columns[1]: j.Queue} {
			if text == "" {
				return fmt.Errorf("%s is empty", column)
			}
		}
		if first, twice := seen[j.ID]; twice {
			return fmt.Errorf("%s: %q is also on line %d", is.columns[0], j.ID, first)
		}
		seen[j.ID] = n
		if work += j.Work * max(j.GPU, j.CPU/1000); work > maxWork {
			return fmt.Errorf("all jobs up to here are more work than %d GPU-hours", maxWork/3600/1000)
		}
		t.Jobs = append(t.Jobs, j)
		return nil
	})
	if err == nil && len(t.Jobs) == 0 {
		err = fmt.Errorf("%s: line %d: there are no jobs", path, n)
	}
	if err == nil {
		err = t.shares(quotas)
	}
	t.sorted()
	return t, err
}

func known() string {
	var list []string
	for _, f := range formats {
		list = append(list, strings.Join(f.columns, ","))
	}
	return strings.Join(list, "; or ")
}

// beside returns the file with the quotas that is beside a trace; empty: there is none.
func beside(trace string) string {
	file := filepath.Join(filepath.Dir(trace), "vc_nodes.csv")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

// shares sets the shares of the queues of the jobs.
func (t *Trace) shares(quotas string) error {
	weight := map[string]int64{}
	for _, j := range t.Jobs {
		weight[j.Queue] = 0
	}
	if quotas == "" && !strings.HasPrefix(t.Jobs[0].Queue, "queue-") {
		quotas = beside(t.Name)
	}
	var sum int64
	if quotas != "" {
		err := lines(quotas, func(columns map[string]int) error {
			for _, c := range []string{"vc", "node num"} {
				if _, ok := columns[c]; !ok {
					return fmt.Errorf("there is no column %q", c)
				}
			}
			return nil
		}, func(r row) error {
			n := r.number("node num", 0, 1<<31)
			weight[r.text("vc")] = n
			sum += n
			return nil
		})
		if err != nil {
			return err
		}
		if sum == 0 {
			return fmt.Errorf("%s: all quotas are zero", quotas)
		}
	}
	for name, n := range weight {
		if quotas == "" {
			n = 1
		}
		t.Shares = append(t.Shares, Share{name, n})
	}
	return nil
}
