package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

//go:embed racks.yaml
var racksSample []byte

const clearUsage = "usage: nodes clear [-f FILE]... [-node NAME... | [-count N] [-topology LABEL]] [-now TIME] " +
	"[-svg FILE] [-o text|json]"

// clearing is what nodes clear asks.
type clearing struct {
	files, nodes          []string
	topology, svg, output string
	resource              string // that is drawn
	request               moves.ClearRequest
	isSample              bool
}

// The sample is about racks, at a time after its pods have started.
const sampleTopology = "rack"

var sampleNow = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// cleared is the answer, with the cluster before and after it.
type cleared struct {
	answer        moves.ClearAnswer
	before, after *placement.Snapshot
	notes         []string
	doubts        []string // what the answer depends on and is not known
}

func parseClear(args []string, stdout io.Writer) (c clearing, err error) {
	flags := flag.NewFlagSet("nodes clear", flag.ContinueOnError)
	flags.Func("f", "read the cluster from `FILE` (- is standard input); may be given several times", func(name string) error {
		c.files = append(c.files, name)
		return nil
	})
	flags.Func("node", "empty the node `NAME`, as for a drain; may be given several times", func(name string) error {
		c.nodes = append(c.nodes, name)
		return nil
	})
	flags.IntVar(&c.request.Count, "count", 1, "empty `N` racks")
	flags.StringVar(&c.topology, "topology", "", "nodes with the same value of `LABEL` are a rack (default: each node by itself)")
	now := flags.String("now", "", "decide as of `TIME` (RFC 3339; default: the time of the machine)")
	flags.StringVar(&c.svg, "svg", "", "draw the racks before and after to `FILE`")
	flags.StringVar(&c.output, "o", "text", "print `text|json`")
	if err := cli.Parse(flags, args, clearUsage, stdout, "", "-f cluster.json -topology LABEL -count 2", "-f cluster.json -node NAME"); err != nil {
		return c, err
	}
	if *now != "" {
		c.request.Now, err = parseNow(*now)
	}
	switch {
	case flags.NArg() > 0:
		return c, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), clearUsage)
	case len(c.nodes) > 0 && (c.topology != "" || c.request.Count != 1):
		return c, errors.New("-node says which nodes are to be empty, -count and -topology how many racks: give one or the other")
	case c.request.Count < 1:
		return c, fmt.Errorf("-count %d: want at least 1", c.request.Count)
	case c.output != "text" && c.output != "json":
		return c, fmt.Errorf("-o %q: want text or json", c.output)
	}
	return c, err
}

// runClear is run for nodes clear.
func runClear(args []string, piped io.Reader, stdout, stderr io.Writer, screen cli.Screen) int {
	c, err := parseClear(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return cli.StatusYes
	}
	var a *cleared
	if err == nil {
		a, err = c.ask(piped)
	}
	if err == nil && c.svg != "" {
		err = os.WriteFile(c.svg, c.draw(a), 0o644)
	}
	if err == nil && c.output == "json" {
		err = c.printJSON(a, stdout)
	} else if err == nil {
		err = c.printText(a, stdout, screen)
	}
	if err != nil {
		return bad(stderr, err)
	}
	return statusOf(a.verdict())
}

// verdict is the answer in a word: yes, no or unknown.
func (a *cleared) verdict() string {
	switch {
	case len(a.doubts) > 0:
		return cli.Unknown
	case a.answer.Outcome.Succeeds():
		return "yes"
	}
	return "no"
}

// ask reads the cluster and empties racks.
func (c *clearing) ask(piped io.Reader) (*cleared, error) {
	cluster, filter, notes, err := c.read(piped)
	if err != nil {
		return nil, err
	}
	a := &cleared{notes: notes}
	if a.before, err = cluster.Snapshot(); err != nil {
		return nil, err
	}
	a.notes = append(a.notes, bridge.Texts(cluster.Notes)...)
	if c.isSample {
		c.request.Now = cmp.Or(c.request.Now, sampleNow)
	}
	if err := c.split(cluster.State.Nodes); err != nil {
		return nil, err
	}
	a.notes = append(a.notes, c.leftOut(cluster.State.Nodes)...)
	c.resource = mainResource(cluster.State.Nodes)
	c.request.Now = cmp.Or(c.request.Now, time.Now())
	c.request.Stays = func(p workload.Pod) bool { return cluster.OfNodes[p.ID] }
	config := placement.Config{}
	if filter != nil {
		config.Filters = []placement.Filter{filter}
	}
	preemptor, err := placement.New(config)
	if err != nil {
		return nil, err
	}
	if a.answer, err = moves.Clear(preemptor, a.before, c.request, moves.Config{}); err != nil {
		return nil, err
	}
	a.doubts = bridge.Texts(c.doubtsOn(cluster.Doubts, &a.answer))
	a.after, err = a.before.With(a.answer.EditsWhenDone(a.before)...)
	return a, err
}

// split says which domains are to be empty: each node by itself, racks, or all nodes that are named.
func (c *clearing) split(nodes []workload.Node) error {
	if c.isSample && len(c.nodes) == 0 {
		c.topology = cmp.Or(c.topology, sampleTopology)
	}
	if c.topology != "" {
		if c.request.Domains = kubernetes.Domains(nodes, c.topology); len(c.request.Domains) == 0 {
			return fmt.Errorf("no node has the label %s", c.topology)
		}
	}
	for _, name := range c.nodes {
		if !slices.ContainsFunc(nodes, func(n workload.Node) bool { return n.Name == name }) {
			return fmt.Errorf("-node %s: it is not in the input", name)
		}
		c.request.Count = 0
		c.request.Domains = append(c.request.Domains, placement.Domain{Name: name, Nodes: []string{name}})
	}
	return nil
}

// leftOut are notes on the nodes that are in no rack, and those that are not schedulable.
func (c *clearing) leftOut(nodes []workload.Node) (notes []string) {
	var apart, closed []string
	for _, n := range nodes {
		if n.Labels[c.topology] == "" {
			apart = append(apart, n.Name)
		}
		if n.Unschedulable {
			closed = append(closed, n.Name)
		}
	}
	if c.topology != "" && len(apart) > 0 {
		notes = append(notes, fmt.Sprintf("in no rack, without the label %s: %s", c.topology, few(apart)))
	}
	if len(closed) > 0 {
		notes = append(notes, "unschedulable, so no pod moves there: "+few(closed))
	}
	return notes
}

// few names the first of a list.
func few(names []string) string {
	list := strings.Join(names[:min(4, len(names))], ", ")
	if n := len(names) - 4; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return list
}

// doubtsOn are the doubts on which the answer depends: where all that is asked can be emptied, those about nodes that are emptied or
// moved to, and about the whole cluster. What waits takes no part.
func (c *clearing) doubtsOn(doubts []bridge.Doubt, a *moves.ClearAnswer) (notes []bridge.Note) {
	touched := map[string]bool{}
	for _, x := range a.Cleared {
		touched[x.Domain] = true // each node by itself
		for _, d := range c.request.Domains {
			for _, node := range d.Nodes {
				touched[node] = touched[node] || d.Name == x.Domain
			}
		}
	}
	for _, m := range a.Moves {
		for _, p := range m.Pods {
			touched[p.To] = true
		}
	}
	for _, d := range doubts {
		if d.Workload == "" && (d.Node == "" || touched[d.Node] || !a.Outcome.Succeeds()) {
			notes = append(notes, d.Note)
		}
	}
	return bridge.SortedNotes(notes)
}

func (c *clearing) read(piped io.Reader) (cluster kubernetes.Cluster, filter *kubernetes.Filter, notes []string, err error) {
	files := c.files
	if len(files) == 0 && piped != nil {
		files = []string{"-"}
	}
	sources, err := input.Files(files, piped)
	if err != nil {
		return cluster, nil, nil, err
	}
	if c.isSample = len(sources) == 0; c.isSample {
		sources = []input.Source{{Name: "the sample", Reader: bytes.NewReader(racksSample)}}
	}
	var objects read.Kubernetes
	if notes, err = input.Read(sources, input.Options{Lost: objects.Lose}, objects.Add); err != nil {
		return cluster, nil, nil, err
	}
	cluster = objects.Cluster()
	filter, more := objects.Filter()
	for _, n := range more {
		cluster.Doubts = append(cluster.Doubts, bridge.Doubt{Note: n})
	}
	return cluster, filter, append(notes, bridge.Texts(more)...), nil
}

// mainResource is the first resource of GPUs that a node has, else cpu.
func mainResource(nodes []workload.Node) string {
	for _, n := range nodes {
		for _, name := range slices.Sorted(maps.Keys(n.Capacity)) {
			if strings.Contains(name, "gpu") && n.Capacity[name] > 0 {
				return name
			}
		}
	}
	return "cpu"
}
