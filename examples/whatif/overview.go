package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/units"
)

var overviewVerb = verb{
	name: "overview", short: "every pending workload in one line",
	long:     "Says about every pending workload whether it fits, its place in its queue, how long it waits, which workloads it would preempt, and when time alone helps. Each is decided about as if it were the only one; next says what they do to each other.",
	examples: []string{"overview -live", "overview -f cluster.json -queue vision", "overview -live -o json"},
	yes:      "every one fits, at once or by preemption", no: "one does not, or not yet, or is held", unknown: "one is unknown: its answer depends on what cannot be read or is not supported",
	flags: func(c *cobra.Command, o *options) {
		queueFlag(c, o)
		allFlag(c, o)
	},
	run: func(c *cluster, o *options, std stdio) (result, error) {
		rows, all, notes, err := c.overview(o, std.screen)
		if err != nil {
			return result{}, err
		}
		status := statusOfAll(rows)
		if len(rows) < all && status == cli.StatusYes {
			status = cli.StatusUnknown
		}
		notes = append(c.inputNotes(), notes...)
		return result{status, func(b *cli.Page) {
			c.printOverview(b, rows, all)
			printNotes(b, notes)
			c.printSampleHint(b, "overview -live")
		}, struct {
			Now       time.Time     `json:"now"`
			Workloads []overviewRow `json:"workloads"`
			Notes     []string      `json:"notes"`
		}{c.Now, rows, notes}}, nil
	},
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

// overview answers about what waits. In a large cluster it has no row for some of them, with a note.
func (c *cluster) overview(o *options, screen cli.Screen) (rows []overviewRow, all int, notes []string, err error) {
	if err := c.checkQueue(o.queue); err != nil {
		return nil, 0, nil, err
	}
	list, err := c.waiting(o)
	if err != nil {
		return nil, 0, nil, err
	}
	list = slices.DeleteFunc(list, func(w answers.Waiting) bool { return o.queue != "" && w.Workload.Queue != o.queue })
	found, notes, err := c.shortenAll(o, list, screen)
	rows = []overviewRow{}
	for i, s := range found {
		if w := &list[i]; s != nil {
			rows = append(rows, overviewRow{w.Workload.ID, w.Workload.Queue, w.Position, w.Workload.EffectivePriority(), w.Workload.Queued, *s, w.Notes})
		}
	}
	return rows, len(list), notes, err
}

// shortenAll answers about workloads in a few words. In a large cluster it answers about the first of each
// queue, with a note; about all with -all.
func (c *cluster) shortenAll(o *options, list []answers.Waiting, screen cli.Screen) (found []*answers.Short, notes []string, err error) {
	progress := screen.Start("workloads", int64(len(list)))
	defer progress.Done()
	most := c.MaxDecisions()
	if o.all {
		most = len(list)
	}
	if found, err = c.ShortenAll(list, most, func() { progress.Add(1) }); err != nil {
		return nil, nil, err
	}
	if n := len(list) - len(slices.DeleteFunc(slices.Clone(found), func(s *answers.Short) bool { return s == nil })); n > 0 {
		notes = append(notes, fmt.Sprintf("looked at %d of %d workloads, the first of each queue: -all looks at all and takes longer", len(list)-n, len(list)))
	}
	return found, notes, nil
}

// allFlag adds the flag of verbs that look at a part of what waits in a large cluster.
func allFlag(c *cobra.Command, o *options) {
	c.Flags().BoolVar(&o.all, "all", false, "look at every workload, however long that takes")
}

func (c *cluster) printOverview(b *cli.Page, rows []overviewRow, all int) {
	if len(rows) == 0 {
		b.Say("No workload waits.\n")
		return
	}
	t := &cli.Table{Columns: []cli.Column{
		{Name: "workload", Least: 20, Cut: true}, {Name: "queue", Least: 8, Cut: true}, {Name: "#", Right: true}, {Name: "waits", Right: true},
		{Name: "answer", Least: 30, Cut: true, Colour: answers.Colour},
	}}
	count := map[string]int{}
	noted := false
	for _, r := range rows {
		position, name := "", r.Workload
		if r.Position > 0 {
			position = fmt.Sprint(r.Position)
		}
		if len(r.Notes) > 0 && r.Outcome != "Held" && r.Outcome != "Unknown" {
			name += "*"
			noted = true
		}
		t.Row(name, r.Queue, position, units.Age(c.Now, r.Queued), r.Words)
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
	wait := plural(all, "1 workload waits", "%d workloads wait")
	if len(rows) < all {
		wait += fmt.Sprintf("; of the %d that were looked at", len(rows))
	}
	b.Say("%s: %s.\n\n", wait, strings.Join(parts, ", "))
	b.Table(t)
	if noted {
		b.Say("* ask -workload NAME prints notes about it.\n")
	}
}
