package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/workload"
)

var overviewVerb = verb{
	name: "overview", short: "what waits, a line each: does it fit, whom does it preempt",
	long:     "Says about every pending workload whether it fits, its place in its queue, how long it waits, which workloads it would preempt, and when time alone helps. Each is decided about as if it were the only one; next says what they do to each other. Each line is printed as soon as its answer is known; after Ctrl-C the last lines say what was looked at. In a large cluster without room the first workloads of each queue are looked at; -all looks at all.",
	examples: []string{"overview -live -n NAMESPACE", "overview -f cluster.json -queue vision -stuck", "overview -live -o json"},
	yes:      "every one fits, at once or by preemption", no: "one does not, or not yet, or is held",
	unknown: "one is unknown: its answer depends on what cannot be read or is not supported, or it was not looked at",
	flags: func(c *cobra.Command, o *options) {
		queueFlag(c, o)
		c.Flags().BoolVar(&o.stuck, "stuck", false, "only what neither fits now nor preempts")
		allFlag(c, o)
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		list, err := c.listed(o)
		if err != nil {
			return result{}, err
		}
		v := &overview{cluster: c, all: len(list), rows: []overviewRow{}, stuck: o.stuck}
		if o.isText() {
			v.page = &cli.Page{Screen: o.screen(std.screen)}
			v.begin(list, o)
		}
		notes, err := c.shortenAll(o, list, std, func(i int, s *answers.Short) error { return v.add(&list[i], s, std.out) })
		if err != nil {
			return result{}, err
		}
		notes = append(c.inputNotes(), notes...)
		status := statusOfAll(v.rows)
		if len(v.rows) < v.all && status == cli.StatusYes {
			status = cli.StatusUnknown
		}
		if v.page != nil {
			v.end(c.commands(o, std))
			if err := v.together(o); err != nil {
				return result{}, err
			}
			if shares := v.sharesOfAll(o.all); len(shares) > 0 {
				v.page.Gap()
				v.printFairShares(v.page, shares)
			}
			printNotes(v.page, notes)
			c.printSampleHint(v.page, "overview -live")
			v.page.SayCut()
			return result{status: status}, v.page.Print(std.out)
		}
		return result{status, nil, struct {
			Now       time.Time     `json:"now"`
			Workloads []overviewRow `json:"workloads"`
			// FairShares is what queues may have and have, of KAI.
			FairShares []queueShares `json:"fairShares,omitempty"`
			Notes      []string      `json:"notes"`
		}{c.Now, v.shown(), c.fairShares(), notes}, v.names()}, nil
	},
}

// names are the workloads that wait.
func (v *overview) names() []string {
	names := []string{}
	for _, r := range v.shown() {
		names = append(names, r.Workload)
	}
	return names
}

// shown are the rows that the command line asks for.
func (v *overview) shown() []overviewRow {
	return slices.DeleteFunc(slices.Clone(v.rows), func(r overviewRow) bool { return v.leavesOut(r.Outcome) })
}

// leavesOut reports whether the command line asks for no row about an answer.
func (v *overview) leavesOut(outcome string) bool {
	return v.stuck && statusOf(outcome) == cli.StatusYes
}

// queueFlag adds the flag of verbs about all workloads.
func queueFlag(c *cobra.Command, o *options) {
	c.Flags().StringVar(&o.queue, "queue", "", "only the workloads of `QUEUE`")
}

// inputNotes are the notes on the whole input.
func (c *cluster) inputNotes() []string {
	notes := []string{}
	if c.Sharing != "" {
		notes = append(notes, c.Sharing)
	}
	return append(append(notes, c.limitNotes()...), c.Found.Warnings...)
}

// limitNotes says what limits on preemptions do not count.
func (c *cluster) limitNotes() []string {
	if len(c.Config.Limits) == 0 {
		return nil
	}
	return []string{plural(len(c.Config.Limits), "1 limit on preemptions is looked at", "%d limits on preemptions are looked at") +
		"; preemptions before now are not in the input, and count as none"}
}

// checkQueue fails for a queue that is not in the input.
func (c *cluster) checkQueue(name string) error {
	if name == "" || c.findQueue(name) != nil {
		return nil
	}
	if local, err := queueOf(name, &c.Input); err == nil && local.Namespace != "" {
		return fmt.Errorf("queue %q is a LocalQueue, of ClusterQueue %s: -queue %[2]s", name, local.ClusterQueue)
	}
	return fmt.Errorf("queue %q is not in the input%s%s", name, nearest(name, queueNames(c.State)), whyMissing(c.Found.Warnings))
}

// overviewRow is one pending workload.
type overviewRow struct {
	Workload string    `json:"workload"`
	Queue    string    `json:"queue"`
	Position int       `json:"position,omitempty"` // in its queue, from 1; absent: it has none
	Priority int64     `json:"priority"`           // effective
	Queued   time.Time `json:"queued,omitzero"`
	answers.Short
	Notes []string `json:"notes,omitempty"`
}

// listed returns the workloads that wait in the queue of the options, or in all.
func (c *cluster) listed(o *options) ([]answers.Waiting, error) {
	if err := c.checkQueue(o.queue); err != nil {
		return nil, err
	}
	list, err := c.waiting(o)
	return slices.DeleteFunc(list, func(w answers.Waiting) bool { return !o.wants(&w.Workload) }), err
}

// wants reports whether a workload is of the queue and the namespace that the command line names.
func (o *options) wants(w *workload.Workload) bool {
	return (o.queue == "" || w.Queue == o.queue) && (o.namespace == "" || answers.Namespace(w.ID) == o.namespace)
}

// shortenAll answers about workloads in a few words, and tells about each as soon as it is known. Without -all the
// decisions have a limit; notes say what was not looked at, and why.
func (c *cluster) shortenAll(o *options, list []answers.Waiting, std stdio, tell func(i int, s *answers.Short) error) (notes []string, err error) {
	var progress *cli.Progress
	if !o.isText() || !std.screen.Terminal { // else the rows show it
		progress = std.screen.Start("workloads", int64(len(list)))
		defer progress.Done()
	}
	ctx, stop := std.interrupted()
	defer stop()
	limit, looked := answers.MaxSteps, 0
	if o.all {
		limit = 0
	}
	_, wrong := c.ShortenAll(ctx, list, limit, func(i int, s *answers.Short) {
		if s != nil {
			looked++
		}
		if progress != nil {
			progress.Add(1)
		}
		err = cmp.Or(err, tell(i, s))
	})
	if err = cmp.Or(wrong, err); err != nil {
		return nil, err
	}
	left := plural(len(list)-looked, "1 workload was", "%d workloads were") + " not looked at"
	switch {
	case ctx.Err() != nil:
		notes = append(notes, fmt.Sprintf("%s: %v ended it", left, context.Cause(ctx)))
	case looked < len(list):
		notes = append(notes, fmt.Sprintf("%s, the last ones of their queues: the decisions may look at %d million running workloads together; with -all they have no limit",
			left, answers.MaxSteps/1_000_000))
	}
	return notes, nil
}

// allFlag adds the flag of verbs that look at a part of what waits in a large cluster.
func allFlag(c *cobra.Command, o *options) {
	c.Flags().BoolVar(&o.all, "all", false, "look at every workload, however long that takes")
}

// overview is the answers about what waits. In a large cluster it has no row for some of them.
type overview struct {
	*cluster
	page  *cli.Page // nil: for JSON
	table *cli.Table
	all   int // workloads
	rows  []overviewRow
	noted bool
	stuck bool   // only rows of what neither fits nor preempts
	said  string // what every name begins with and need not say; empty: nothing
}

// begin prints what is known before the answers are.
func (v *overview) begin(list []answers.Waiting, o *options) {
	if len(list) == 0 {
		v.page.Say("No workload waits%s.\n", o.where())
		return
	}
	v.page.Say("%s%s.\n\n", plural(v.all, "1 workload waits", "%d workloads wait"), o.where())
	if v.page.Screen.Width > 0 && o.namespace != "" { // the line above says it
		v.said = o.namespace + "/"
	}
	v.table = &cli.Table{Columns: []cli.Column{
		{Name: "workload", Least: 24, Cut: true}, {Name: "queue", Least: 14, Cut: true}, {Name: "#", Right: true}, {Name: "waits", Right: true},
		{Name: "answer", Least: 28, Colour: answers.Colour},
	}}
	for i := range list {
		v.table.Row(append(v.cells(&list[i], len(list[i].Notes) > 0), "")...)
	}
	v.table.Begin(v.page)
}

// where says of which queue and namespace the workloads are that the command line asks about.
func (o *options) where() string {
	text := ""
	if o.queue != "" {
		text += " in queue " + o.queue
	}
	if o.namespace != "" {
		text += " in namespace " + o.namespace
	}
	return text
}

// cells are the first columns of a row; starred: there are notes about the answer.
func (v *overview) cells(w *answers.Waiting, starred bool) []any {
	position, name := "", strings.TrimPrefix(w.Workload.ID, v.said)
	if w.Position > 0 {
		position = fmt.Sprint(w.Position)
	}
	if starred {
		name += "*"
	}
	return []any{name, w.Workload.Queue, position, units.Age(v.Now, w.Workload.Queued)}
}

// add adds the answer about a workload, and prints it; nil: it was not looked at.
func (v *overview) add(w *answers.Waiting, s *answers.Short, out io.Writer) error {
	if s == nil {
		return nil
	}
	v.rows = append(v.rows, overviewRow{w.Workload.ID, w.Workload.Queue, w.Position, w.Workload.EffectivePriority(), w.Workload.Queued, *s, w.Notes})
	if v.page == nil || v.leavesOut(s.Outcome) {
		return nil
	}
	starred := len(w.Notes) > 0 && s.Outcome != answers.Held && s.Outcome != answers.Unknown
	v.noted = v.noted || starred
	v.table.Next(v.page, append(v.cells(w, starred), s.Words)...)
	return v.page.Flush(out)
}

// maxTogether is how many workloads may wait for the overview to say what becomes of them together.
const maxTogether = 500

// together says, where several could be admitted alone, how many are together: the first cycles of next.
func (v *overview) together(o *options) error {
	alone := 0
	for i := range v.rows {
		if statusOf(v.rows[i].Outcome) == cli.StatusYes {
			alone++
		}
	}
	switch {
	case alone < 2:
		return nil
	case v.all > maxTogether || o.queue != "" || o.namespace != "":
		v.page.Say("Each is answered as if it were alone; next says what becomes of them together.\n")
		return nil
	}
	cycles := *o
	cycles.cycles = 2*v.all + 2
	f, err := v.forecast(&cycles, 0, cli.Screen{})
	if err != nil {
		return err
	}
	admitted := map[string]bool{}
	for _, s := range f.steps {
		if s.Outcome == cycle.Admit {
			admitted[s.Workload] = true
		}
	}
	v.page.Say("Each is answered as if it were alone; together %s admitted (next says how).\n", plural(len(admitted), "1 is", "%d are"))
	return nil
}

// end says how many answers there are of each kind.
func (v *overview) end(try *commands) {
	b := v.page
	if v.all == 0 {
		return
	}
	if v.noted {
		b.Say("* why NAMESPACE/NAME prints notes about it.\n")
	}
	count := map[string]int{}
	for _, r := range v.rows {
		count[r.Outcome]++
	}
	var parts []string
	for _, p := range []struct{ outcome, one, many string }{
		{"Fits", "1 fits now", "%d fit now"}, {"Preempt", "1 preempts", "%d preempt"}, {"Gated", "1 is gated", "%d are gated"},
		{"Wait", "1 needs time alone", "%d need time alone"}, {"Impossible", "1 does not fit", "%d do not fit"},
		{"Held", "1 is held", "%d are held"}, {"Unknown", "1 is unknown", "%d are unknown"},
	} {
		if n := count[p.outcome]; n > 0 {
			parts = append(parts, plural(n, p.one, p.many))
		}
	}
	if left := v.all - len(v.rows); left > 0 {
		parts = append(parts, plural(left, "1 was not looked at", "%d were not looked at"))
	}
	b.Gap()
	b.Say("Of %s %s.\n", plural(v.all, "1 workload", "%d workloads"), strings.Join(parts, ", "))
	for _, of := range [][]string{{"Impossible", "Wait", "Gated"}, {answers.Held, answers.Unknown}} {
		at := slices.IndexFunc(v.rows, func(r overviewRow) bool { return slices.Contains(of, r.Outcome) })
		if at >= 0 {
			b.Say("Why the first of them waits, and what would change that:\n")
			printCommand(b, 2, try.write("why", v.rows[at].Workload, nil, "queue", "stuck"))
			return
		}
	}
}
