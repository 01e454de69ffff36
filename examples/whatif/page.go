package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/playground/model"
	"github.com/cedesched/cede/examples/playground/site"
	"github.com/cedesched/cede/preemption"
)

var pageVerb = verb{
	name: "page", short: "a page for the browser with the cluster in it, in one file",
	long:     "Writes one HTML file with the cluster and cede itself in it: the quota tree, who runs and waits, each decision step by step, at any time, and what other quotas, policies and priorities would change. It needs nothing else and sends nothing anywhere. It is built with the go tool, in a checkout of cede.",
	examples: []string{"page -live -o report.html", "page -f cluster.json -workload vision/detector-train"},
	yes:      "the page is written",
	flags: func(c *cobra.Command, o *options) {
		c.Flags().StringVarP(&o.page, "output", "o", "report.html", "write the page into `FILE`; - is standard output")
		c.Flags().StringVar(&o.workload, "workload", "", "show the pending workload `NAMESPACE/NAME` first, else one that preempts or has to wait")
	},
	check: func(_ *cobra.Command, o *options) error {
		if o.page != "-" && !strings.HasSuffix(o.page, ".html") {
			return fmt.Errorf("-o %q: want a file whose name ends in .html, or - for standard output", o.page)
		}
		return nil
	},
	run: runPage,
}

func runPage(c *cluster, o *options, std stdio) (result, error) {
	document, err := c.document(o)
	if err != nil {
		return result{}, err
	}
	progress := std.screen.Start("building", 1)
	programs, err := buildPage()
	progress.Done()
	if err != nil {
		return result{}, err
	}
	page := site.Single(programs, document)
	if o.page == "-" {
		_, err := std.out.Write(page)
		return result{}, err
	}
	if err := os.WriteFile(o.page, page, 0o644); err != nil {
		return result{}, err
	}
	return result{print: func(b *cli.Page) {
		b.Say("%s holds the page (%s): open it in a browser.\n", o.page, humanize.Bytes(uint64(len(page))))
		printNotes(b, c.inputNotes())
	}}, nil
}

// buildPage is replaced in tests, which need no WebAssembly.
var buildPage = site.Build

// document is the cluster as the page reads it.
func (c *cluster) document(o *options) ([]byte, error) {
	name := "the cluster"
	switch {
	case c.Sample != "":
		name = "the sample"
	case len(o.files) == 1 && o.files[0] != "-":
		name = o.files[0]
	}
	d := model.FromInput(c.Input, name, c.Now)
	d.Now = c.Now
	if c.Recorded != nil {
		d.Now = c.recordedRequest(o).Now
	}
	d.Fair, d.Strategies = c.Config.Sharing == preemption.Fair, c.Config.Fair.Strategies
	if d.Selected = o.workload; d.Selected == "" && c.Sample == answers.Samples[0] {
		d.Selected = answers.SampleWorkload
	}
	waits := func(w model.Waiting) bool { return w.Request.Workload.ID == d.Selected }
	if d.Selected != "" && !slices.ContainsFunc(d.Waiting, waits) {
		return nil, fmt.Errorf("no workload %q waits in the input%s", d.Selected, nearest(d.Selected, pendingNames(c.Found.Pending)))
	}
	m, err := model.New(d)
	if err != nil {
		return nil, err
	}
	m.SelectTelling(200)
	return m.JSON()
}
