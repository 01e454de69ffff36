package main

import (
	"bytes"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

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

const clearUsage = "usage: nodes clear [-f FILE]... [-count N] [-topology LABEL] [-resource NAME] [-only] [-exact] [-svg FILE]"

// clearing is what nodes clear asks.
type clearing struct {
	files                   []string
	topology, resource, svg string
	request                 moves.ClearRequest
	config                  moves.Config
	isSample                bool
}

// cleared is the answer, with the cluster before and after it.
type cleared struct {
	answer        moves.ClearAnswer
	before, after *placement.Snapshot
	waiting       []workload.Pod
	notes         []string
}

func parseClear(args []string, stdout io.Writer) (c clearing, err error) {
	flags := flag.NewFlagSet("nodes clear", flag.ContinueOnError)
	flags.Func("f", "read the cluster from `FILE` (- is standard input); may be given several times", func(name string) error {
		c.files = append(c.files, name)
		return nil
	})
	flags.IntVar(&c.request.Count, "count", 1, "empty `N` racks")
	flags.StringVar(&c.topology, "topology", "rack", "nodes with the same value of `LABEL` are a rack")
	flags.StringVar(&c.resource, "resource", "", "measure the resource `NAME` (default: GPUs if there are any, else cpu)")
	flags.BoolVar(&c.config.Only, "only", false, "all units that leave must have a place: none yields")
	exact := flags.Bool("exact", false, "look for the answer that loses the least")
	flags.StringVar(&c.svg, "svg", "", "draw the racks before and after to `FILE`")
	if err := cli.Parse(flags, args, clearUsage, stdout); err != nil {
		return c, err
	}
	if *exact {
		c.config.Search = placement.Exact
	}
	switch {
	case flags.NArg() > 0:
		return c, fmt.Errorf("unexpected argument %q; %s", flags.Arg(0), clearUsage)
	case c.request.Count < 1:
		return c, fmt.Errorf("-count %d: want at least 1", c.request.Count)
	case c.topology == "":
		return c, errors.New("-topology: want a label (kubernetes.io/hostname: each node is a rack)")
	}
	return c, nil
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
	if err == nil {
		err = c.print(a, stdout, screen)
	}
	switch {
	case err != nil:
		return bad(stderr, err)
	case !a.answer.Outcome.Succeeds():
		return cli.StatusNo
	}
	return cli.StatusYes
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
	for _, p := range cluster.Pending {
		a.waiting = append(a.waiting, p.Request.Pods...)
	}
	if c.request.Domains = racks(cluster.State.Nodes, c.topology); len(c.request.Domains) == 0 {
		return nil, fmt.Errorf("no node has the label %s: give -topology", c.topology)
	}
	if c.resource == "" {
		c.resource = mainResource(cluster.State.Nodes)
	}
	c.request.Stays = func(p workload.Pod) bool { return cluster.OfNodes[p.ID] }
	config := placement.Config{}
	if filter != nil {
		config.Filters = []placement.Filter{filter}
	}
	preemptor, err := placement.New(config)
	if err != nil {
		return nil, err
	}
	if a.answer, err = moves.Clear(preemptor, a.before, c.request, c.config); err != nil {
		return nil, err
	}
	a.after, err = a.before.With(a.answer.EditsWhenDone(a.before)...)
	return a, err
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
	return cluster, filter, append(notes, bridge.Texts(more)...), nil
}

// racks makes a domain of the nodes with the same value of a label, sorted.
func racks(nodes []workload.Node, label string) (list []placement.Domain) {
	of := map[string][]string{}
	for _, n := range nodes {
		if value := n.Labels[label]; value != "" {
			of[value] = append(of[value], n.Name)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(of)) {
		list = append(list, placement.Domain{Name: value, Nodes: of[value]})
	}
	return list
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
