package slurm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/records"
)

// History is what Slurm recorded. Make it with [Read]. Times are seconds since 1970, of the clock that sacct printed, without its zone.
type History struct {
	First, Last int64
	Notes       []string
	// GPUs says that some job held GPUs.
	GPUs bool

	runs       []*run
	byJob      map[string][]*run       // each by its begin
	tasks      map[string][]*run       // by their array
	byNode     map[string][]hold       // each by its begin
	qos        map[string]*records.QOS // nil: not given
	nodes      map[string]*node
	partitions map[string]*partition
	config     map[string]string // of scontrol show config; nil: not given
	signs      []sign
	logged     bool
	lost, held int // odd rows; nodes of all runs
	skew       int64
	gaps       []gap
	reserved   bool // some job has a reservation
}

// run is a run of a job.
type run struct {
	records.Run
	nodes []string // sorted
	all   *amounts // what its nodes have together; nil: that is not known
	told  *sign    // by which it was preempted; nil: the log does not say
}

// hold is a run on a node, with the last end of those that began there until then.
type hold struct {
	*run
	last int64
}

// on lists the runs that held a node at some instant of a time, and perhaps others.
func (h *History) on(name string, from, until int64) []hold {
	list := h.byNode[name]
	end := sort.Search(len(list), func(i int) bool { return list[i].Start > until })
	begin := sort.Search(end, func(i int) bool { return list[i].last >= from })
	return list[begin:end]
}

// node is a node as scontrol show nodes says.
type node struct {
	name             string
	cpu, gpu, memory int64 // in thousandths; MiB
	partitions       []string
	// away: no job could start there when it was printed.
	away bool
}

// partition is one as scontrol show partitions says.
type partition struct {
	tier int64
	qos  string // its own; empty: none
}

// Begin is how much of a file tells its kind.
const Begin = 64 << 10

var (
	rowsText   = regexp.MustCompile(`(?i)^[\w|%]*\bjobid\b[\w|%]*\|`)
	qosText    = regexp.MustCompile(`(?i)^name\|[\w|]*\bpreempt\b`)
	objectText = regexp.MustCompile(`"(qos|nodes|partitions)"\s*:\s*\[`)
	configText = regexp.MustCompile(`(?m)^PreemptType\s*=`)
	linesText  = regexp.MustCompile(`(?m)^\[?\d{4}-\d\d-\d\dT[\d:.+Z-]+\]?\s|slurmctld\[|to reclaim resources for`)
)

// kind tells what a file of Slurm is by its begin; empty: it is none.
func kind(begin []byte) string {
	begin = bytes.TrimLeft(begin, " \t\r\n")
	switch {
	case rowsText.Match(begin):
		return "rows"
	case qosText.Match(begin):
		return "qos"
	case bytes.HasPrefix(begin, []byte("{")):
		if m := objectText.FindSubmatch(begin); m != nil && !bytes.Contains(begin, []byte(`"apiVersion"`)) {
			return string(m[1])
		}
	case bytes.HasPrefix(begin, []byte("Configuration data as of")) || configText.Match(begin):
		return "config"
	case linesText.Match(begin):
		return "log"
	}
	return ""
}

// Is reports whether text begins as what Slurm prints.
func Is(begin []byte) bool { return kind(begin) != "" }

// Read reads a history, in which the clock of the log and that of sacct may differ by a skew. It fails on what cannot be read, and where
// no source has rows of sacct.
func Read(sources []input.Source, skew time.Duration) (*History, error) {
	h := &History{byJob: map[string][]*run{}, tasks: map[string][]*run{}, byNode: map[string][]hold{}, skew: int64(skew / time.Second)}
	has := false
	for _, s := range sources {
		begin, err := s.Begin(Begin)
		if err != nil {
			return nil, err
		}
		what := kind(begin)
		if has = has || what == "rows"; what == "" {
			return nil, fmt.Errorf("%s: it is nothing that Slurm prints and an audit reads: want rows of sacct, and QOS, nodes, partitions, the configuration or the log of slurmctld", s.Name)
		}
		if err := h.read(what, s.Reader, s.Name); err != nil {
			return nil, err
		}
	}
	if !has {
		return nil, errors.New("there are no rows of sacct: " + records.WantRuns)
	}
	h.finish()
	return h, nil
}

func (h *History) read(what string, in io.Reader, name string) (err error) {
	switch what {
	case "rows":
		runs, lost, notes, err := records.Runs(in, name)
		h.lost += lost
		h.Notes = append(h.Notes, notes...)
		for _, r := range runs {
			if h.add(r, name); h.held > maxHeld {
				return fmt.Errorf("%s: the runs held more than %d nodes in all", name, maxHeld)
			}
		}
		return err
	case "qos":
		list, err := records.QOSOf(in, name)
		if h.qos == nil {
			h.qos = map[string]*records.QOS{}
		}
		for i := range list {
			h.qos[list[i].Name] = &list[i]
		}
		return err
	case "nodes":
		return h.readNodes(in, name)
	case "partitions":
		return h.readPartitions(in, name)
	case "config":
		return h.readConfig(in, name)
	}
	if err := h.readLog(in); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// maxHeld bounds how many nodes all runs held, one by one.
const maxHeld = 50_000_000

// add takes a row in. One that is there already is the same.
func (h *History) add(r records.Run, name string) {
	nodes, err := Expand(r.Nodes)
	if err != nil {
		h.lost++
		h.Notes = append(h.Notes, fmt.Sprintf("%s: job %s: NodeList %v: the row is left out", name, r.ID, err))
		return
	}
	slices.Sort(nodes)
	h.held += len(nodes)
	one := &run{Run: r, nodes: slices.Compact(nodes)}
	if r.Start > 0 && len(nodes) > 0 {
		one.Count = int64(len(one.nodes))
	}
	if slices.ContainsFunc(h.byJob[r.ID], func(o *run) bool { return o.Run == r }) {
		return
	}
	h.byJob[r.ID] = append(h.byJob[r.ID], one)
	h.runs = append(h.runs, one)
	if array, _, is := strings.Cut(r.ID, "_"); is {
		h.tasks[array] = append(h.tasks[array], one)
	}
}

// maxObject bounds a file of JSON.
const maxObject = 256 << 20

// decode reads JSON whole.
func decode(in io.Reader, name string, to any) error {
	text, err := io.ReadAll(io.LimitReader(in, maxObject+1))
	switch {
	case err != nil:
	case len(text) > maxObject:
		err = fmt.Errorf("more than %d MiB", maxObject>>20)
	default:
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (h *History) readNodes(in io.Reader, name string) error {
	var of struct {
		Nodes []struct {
			Name       string
			CPUs       int64
			RealMemory int64 `json:"real_memory"`
			TRES       string
			Partitions []string
			State      []string
		}
	}
	if err := decode(in, name, &of); err != nil {
		return err
	}
	if h.nodes == nil {
		h.nodes = map[string]*node{}
	}
	for _, n := range of.Nodes {
		one := &node{name: n.Name, partitions: n.Partitions}
		var ok bool
		if one.cpu, one.gpu, one.memory, ok = records.TRES(n.TRES); !ok || n.Name == "" {
			return fmt.Errorf("%s: node %q: tres: %q: want a list as in cpu=8,gres/gpu=4,mem=64G", name, n.Name, n.TRES)
		}
		if n.TRES == "" {
			one.cpu, one.memory = n.CPUs*1000, n.RealMemory
		}
		one.away = slices.ContainsFunc(n.State, func(s string) bool {
			return slices.Contains([]string{"DOWN", "DRAIN", "DRAINED", "DRAINING", "MAINTENANCE", "MAINT", "FAIL", "FUTURE", "RESERVED", "NOT_RESPONDING", "POWERED_DOWN", "UNKNOWN", "ERROR"}, s)
		})
		h.nodes[n.Name] = one
	}
	return nil
}

func (h *History) readPartitions(in io.Reader, name string) error {
	var of struct {
		Partitions []struct {
			Name     string
			Priority struct {
				Tier int64
			}
			QOS struct {
				Assigned string
			}
		}
	}
	if err := decode(in, name, &of); err != nil {
		return err
	}
	if h.partitions == nil {
		h.partitions = map[string]*partition{}
	}
	for _, p := range of.Partitions {
		h.partitions[p.Name] = &partition{tier: p.Priority.Tier, qos: p.QOS.Assigned}
	}
	return nil
}

// readConfig reads what scontrol show config prints.
func (h *History) readConfig(in io.Reader, name string) error {
	text, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	h.config = map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, is := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); is && h.config[key] == "" {
			h.config[key] = strings.TrimSpace(value)
		}
	}
	return nil
}

// setting is a value of the configuration; empty: it is not given, or (null).
func (h *History) setting(key string) string {
	if v := h.config[key]; v != "(null)" {
		return v
	}
	return ""
}

// number is the number with which a job's ID begins.
func number(id string) int64 {
	end := strings.IndexFunc(id, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(id)
	}
	n, err := strconv.ParseInt(id[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
