package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/examples/bridge/kubernetes"
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/examples/internal/read"
	"github.com/cedesched/cede/examples/whatif/internal/serve"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

var drainVerb = verb{
	name: "drain", short: "is it safe to drain a node: who moves where, who loses its place",
	long: "Says whether nodes can be drained: which pods have room on which other nodes, which must yield, and in which order so that no disruption budget refuses an eviction; or which pod keeps them. Pods of daemon sets stay. Nothing is changed. The input is nodes, pods, poddisruptionbudgets and priorityclasses.",
	examples: []string{
		"drain -live ip-10-42-0-1",
		"drain -f cluster.json ip-10-42-0-1 ip-10-42-0-2",
		"drain -sample kai gpu-node-1",
	},
	yes: "what runs there has room elsewhere", no: "something there has not, or a pod keeps a node, now or for good",
	unknown: "unknown: the answer depends on what cannot be read",
	flags:   func(*cobra.Command, *options) {},
	own:     true, operand: "NODE...",
	takes: func(o *options, _ *cobra.Command, args []string) error { o.nodes = args; return nil },
	run: func(_ *cluster, o *options, std stdio) (result, error) {
		d, err := o.drain(std)
		if err != nil {
			return result{}, err
		}
		return result{d.status(), d.print, serve.Drained{Verdict: d.verdict(), Doubts: d.doubts, Answer: d.answer, Notes: d.notes}, nil}, nil
	},
}

// drained is the answer about nodes that are to be drained.
type drained struct {
	cluster *kubernetes.Cluster
	nodes   []string
	answer  moves.ClearAnswer
	besides moves.ClearAnswer // where a budget forbids it: the answer if none did
	doubts  []string          // what the answer depends on and is not known
	notes   []string
}

// drain asks about the nodes of the command line.
func (o *options) drain(std stdio) (*drained, error) {
	c, filter, notes, err := o.readNodes(std)
	if err != nil {
		return nil, err
	}
	d := &drained{cluster: &c, notes: append(append([]string{}, notes...), bridge.Texts(c.Notes)...)}
	request := moves.ClearRequest{Now: o.nowOfNodes(std), Stays: func(p workload.Pod) bool { return c.OfNodes[p.ID] }}
	var names []string
	for i := range c.State.Nodes {
		names = append(names, c.State.Nodes[i].Name)
	}
	switch {
	case len(names) == 0:
		return nil, o.noNodes()
	case len(o.nodes) == 0:
		return nil, fmt.Errorf("drain: name the nodes that are to be drained; the input has %s", some(names))
	}
	for _, name := range o.nodes {
		for _, kind := range []string{"node/", "nodes/", "no/"} { // as kubectl names it
			name = strings.TrimPrefix(name, kind)
		}
		if !slices.Contains(names, name) {
			host := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name+".") })
			if len(host) != 1 {
				return nil, fmt.Errorf("node %q is not in the input%s", name, nearest(name, names))
			}
			name = host[0]
		}
		d.nodes = append(d.nodes, name)
		request.Domains = append(request.Domains, placement.Domain{Name: name, Nodes: []string{name}})
	}
	snapshot, err := c.Snapshot()
	if err != nil {
		return nil, answers.Faults(err)
	}
	config := placement.Config{}
	if filter != nil {
		config.Filters = []placement.Filter{filter}
	}
	preemptor, err := placement.New(config)
	if err != nil {
		return nil, err
	}
	if d.answer, err = moves.Clear(preemptor, snapshot, request, moves.Config{}); err != nil {
		return nil, answers.Faults(err)
	}
	if slices.ContainsFunc(d.answer.Blocked, func(b moves.Blocked) bool { return b.Cause == moves.Budget }) {
		free := c
		free.State.Budgets = nil
		if snapshot, err = free.Snapshot(); err != nil {
			return nil, answers.Faults(err)
		}
		if d.besides, err = moves.Clear(preemptor, snapshot, request, moves.Config{}); err != nil {
			return nil, answers.Faults(err)
		}
	}
	d.doubts = append(bridge.Texts(d.on(c.Doubts)), d.byTopology()...)
	return d, nil
}

// byTopology says of a yes which pods have no other place for certain: where Kueue places a pod by a topology it looks for another place
// in the domain of its workload, or stops all of that.
func (d *drained) byTopology() []string {
	if d.status() != cli.StatusYes {
		return nil
	}
	var of []string
	pods := 0
	for _, m := range d.answer.Moves {
		for _, p := range m.Pods {
			if s := d.cluster.Started[p.Pod]; s.ByTopology {
				pods++
				if name := cmp.Or(s.Workload, p.Pod); !slices.Contains(of, name) {
					of = append(of, name)
				}
			}
		}
	}
	if pods == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Kueue places %s of %s by a topology, and whether it finds another place in its domain, or stops, is not looked at", plural(pods, "1 pod", "%d pods"), some(of))}
}

// nowOfNodes is the time of a question about nodes.
func (o *options) nowOfNodes(std stdio) time.Time {
	now := o.now
	if now.IsZero() {
		now = std.clock.Now()
		if o.sample != "" {
			now = answers.SampleTime
		}
	}
	return now.Add(o.in)
}

// on are the doubts that the answer depends on: about the whole cluster, and of a yes about the nodes that are drained or moved to. What
// waits takes no part.
func (d *drained) on(doubts []bridge.Doubt) (notes []bridge.Note) {
	touched := slices.Clone(d.nodes)
	for _, m := range d.answer.Moves {
		for _, p := range m.Pods {
			touched = append(touched, p.To)
		}
	}
	for _, doubt := range doubts {
		if doubt.Workload == "" && (doubt.Node == "" || slices.Contains(touched, doubt.Node) || !d.answer.Outcome.Succeeds()) {
			notes = append(notes, doubt.Note)
		}
	}
	return bridge.SortedNotes(notes)
}

// readNodes reads nodes and pods, and what their places depend on.
func (o *options) readNodes(std stdio) (c kubernetes.Cluster, filter *kubernetes.Filter, notes []string, err error) {
	var in read.Kubernetes
	sources, lacks := []objects.Source(nil), func() []lack { return nil }
	switch {
	case o.reads(std):
		client, err := o.client(std)
		if err != nil {
			return c, nil, nil, err
		}
		l := &lister{client: client, lacking: map[string]bool{}, list: slices.Clone(ofNodes)}
		l.text.WriteString(`{"kind":"List","items":[]}`)
		sources, lacks = []objects.Source{{Name: "the cluster", Reader: l}}, func() []lack { return l.doubts }
	case len(o.files) == 0 && (o.sample != "" || std.in == nil):
		o.sample = cmp.Or(o.sample, "kai")
		text, err := answers.SampleText(o.sample)
		if err != nil {
			return c, nil, nil, err
		}
		sources = []objects.Source{{Name: "the sample", Reader: bytes.NewReader(text)}}
	default:
		files := o.files
		if len(files) == 0 {
			files = []string{"-"}
		}
		if sources, err = objects.Files(files, std.in); err != nil {
			return c, nil, nil, err
		}
	}
	runs := false // something does whose pods are to be here
	add := func(one *objects.Object) error {
		err := in.Add(one)
		if errors.Is(err, objects.ErrNotRead) && ofQueues(one) {
			runs = runs || one.Kind == "Workload" || one.Kind == "PodGroup"
			return nil
		}
		return err
	}
	if notes, err = objects.Read(sources, objects.Options{Lost: in.Lose}, add); objects.IsNothing(err) {
		return c, nil, nil, o.noNodes()
	} else if err != nil {
		return c, nil, nil, err
	}
	c = in.Cluster()
	if runs && len(c.State.Pods) == 0 && len(c.State.Nodes) > 0 {
		c.Doubts = append(c.Doubts, bridge.Doubt{Note: bridge.Note{Text: "there are no pods in the input, and what runs on the nodes is not known"}})
	}
	filter, more := in.Filter()
	for _, n := range more {
		c.Doubts = append(c.Doubts, bridge.Doubt{Note: n})
	}
	for _, l := range lacks() {
		c.Doubts = append(c.Doubts, bridge.Doubt{Note: bridge.Note{Text: l.text}})
	}
	return c, filter, append(append([]string{}, notes...), bridge.Texts(more)...), nil
}

// ofQueues reports whether an object is one of Kueue or of KAI, which other verbs read.
func ofQueues(o *objects.Object) bool {
	return strings.HasSuffix(o.Group(), "kueue.x-k8s.io") || o.Group() == "scheduling.run.ai"
}

// noNodes says that the input has no nodes.
func (o *options) noNodes() error {
	if o.sample != "" {
		return fmt.Errorf("there are no nodes in the sample %s: -sample kai has nodes and pods", o.sample)
	}
	return errors.New("there are no nodes in the input: this needs nodes,pods,poddisruptionbudgets,priorityclasses, as kubectl get -A -o json prints them")
}

// verdict is the answer in a word.
func (d *drained) verdict() string {
	return map[int]string{cli.StatusYes: "yes", cli.StatusNo: "no", cli.StatusUnknown: cli.Unknown}[d.status()]
}

func (d *drained) status() int {
	switch {
	case len(d.doubts) > 0:
		return cli.StatusUnknown
	case d.answer.Outcome.Succeeds() && len(d.answer.Victims) == 0:
		return cli.StatusYes
	}
	return cli.StatusNo
}

// sentence is the answer.
func (d *drained) sentence() string {
	names, are := strings.Join(d.nodes, ", "), "is"
	if len(d.nodes) > 1 {
		are = "are"
	}
	switch a := &d.answer; {
	case len(d.doubts) > 0:
		return fmt.Sprintf("Whether %s can be drained is unknown: %s.", names, d.doubts[0])
	case a.Outcome == preemption.Fits:
		return names + " " + are + " safe to drain: no pod has to leave."
	case a.Outcome.Succeeds() && len(a.Victims) == 0:
		return names + " " + are + " safe to drain: what runs there has room elsewhere."
	case a.Outcome.Succeeds():
		return fmt.Sprintf("%s %s not safe to drain: %s.", names, are, d.lost(a.Victims))
	case len(a.Blocked) > 0:
		besides := ""
		if len(d.besides.Victims) > 0 {
			besides = "; besides, " + d.lost(d.besides.Victims)
		}
		return fmt.Sprintf("%s cannot be drained: %s stays%s%s.", names, cmp.Or(a.Blocked[0].Group, a.Blocked[0].Pod), d.budgets(&a.Blocked[0]), besides)
	}
	return names + " cannot be drained."
}

// lost says who loses its place, and why.
func (d *drained) lost(victims []placement.Victim) string {
	var reasons []string
	who := map[string][]string{}
	for _, v := range victims {
		why := d.whyLost(v.Pods)
		if who[why] == nil {
			reasons = append(reasons, why)
		}
		who[why] = append(who[why], cmp.Or(v.Group, strings.Join(v.Pods, ", ")))
	}
	var parts []string
	for _, why := range reasons {
		count, text := len(who[why]), why
		if count > 1 {
			text = strings.NewReplacer("has ", "have ", "is ", "are ", " it ", " them ").Replace(why)
		}
		parts = append(parts, fmt.Sprintf("%d %s, %s", count, text, some(who[why])))
	}
	return strings.Join(parts, "; ")
}

// whyLost is why pods are moved nowhere.
func (d *drained) whyLost(ids []string) string {
	for _, id := range ids {
		if why := d.cluster.Stays[id]; why != "" {
			return why
		}
		at := slices.IndexFunc(d.cluster.State.Pods, func(p workload.Pod) bool { return p.ID == id })
		if at < 0 || d.cluster.State.Pods[at].Nodes == nil {
			continue
		}
		if !slices.ContainsFunc(d.cluster.State.Pods[at].Nodes, func(name string) bool { return !slices.Contains(d.nodes, name) }) {
			return "may run on no other node"
		}
	}
	return "has no room elsewhere"
}

// budgets names the disruption budgets that allow no eviction of a pod that stays because of one.
func (d *drained) budgets(b *moves.Blocked) string {
	at := slices.IndexFunc(d.cluster.State.Pods, func(p workload.Pod) bool { return p.ID == b.Pod })
	if b.Cause != moves.Budget || at < 0 {
		return ""
	}
	var names []string
	for i := range d.cluster.State.Budgets {
		if budget := &d.cluster.State.Budgets[i]; budget.Allowed <= 0 && budget.Covers(&d.cluster.State.Pods[at]) {
			names = append(names, budget.Namespace+"/"+budget.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", because " + plural(len(names), "disruption budget ", "disruption budgets ") + strings.Join(names, ", ") + map[bool]string{true: " allows", false: " allow"}[len(names) == 1] + " no eviction now"
}

func (d *drained) print(b *cli.Page) {
	b.SayIn(map[int]printable.Colour{cli.StatusYes: printable.Green, cli.StatusNo: printable.Red, cli.StatusUnknown: printable.Magenta}[d.status()], "%s\n", d.sentence())
	if _, how, is := strings.Cut(printer.ClearText(d.answer), "\n"); is && strings.TrimSpace(how) != "" {
		b.Gap()
		b.Lines(strings.Trim(how, "\n") + "\n")
	}
	printNotes(b, slices.Concat(d.doubts[min(1, len(d.doubts)):], d.notes)) // the answer has the first
}
