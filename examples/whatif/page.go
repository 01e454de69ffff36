package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/playground/model"
	"github.com/cedesched/cede/examples/playground/site"
	"github.com/cedesched/cede/preemption"
)

var pageVerb = verb{
	name: "page", short: "a page for the browser with the cluster in it",
	long:     "Serves a page for the browser with the cluster in it, until it is interrupted: the quota tree, what runs and waits, each decision step by step, at any time, and what other quotas, policies and priorities would change. With -o it writes the page into one HTML file instead, with cede itself in it: the file needs nothing else and sends nothing anywhere. That alone needs the go tool and a checkout of cede.",
	examples: []string{"page", "page -f cluster.json -workload vision/detector-train", "page -live -o report.html"},
	yes:      "the page is written, or it was interrupted",
	flags: func(c *cobra.Command, o *options) {
		c.Flags().StringVarP(&o.page, "output", "o", "", "write the page into `FILE` in place of serving it; - is standard output")
		c.Flags().StringVar(&o.pageAddress, "addr", "127.0.0.1:8019", "serve the page on `ADDRESS` of this machine; port 0 is any free one")
		c.Flags().StringVar(&o.workload, "workload", "", "show the pending workload `NAMESPACE/NAME` first, else one that preempts or has to wait")
	},
	check: func(_ *cobra.Command, o *options) error {
		if o.page != "" && o.page != "-" && !strings.HasSuffix(o.page, ".html") {
			return fmt.Errorf("-o %q: want a file whose name ends in .html, or - for standard output", o.page)
		}
		if _, _, err := net.SplitHostPort(o.pageAddress); err != nil || !cli.IsHere(o.pageAddress) {
			return fmt.Errorf("-addr %q: want an address of this machine alone, as in 127.0.0.1:8019", o.pageAddress)
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
	if o.page == "" {
		return servePage(document, o, std)
	}
	data, err := json.Marshal(document)
	if err != nil {
		return result{}, err
	}
	progress := std.screen.Start("building", 1)
	programs, err := buildPage()
	progress.Done()
	if err != nil {
		return result{}, fmt.Errorf("%w; without -o the program serves the page itself", err)
	}
	page := site.Single(programs, data)
	if o.page == "-" {
		_, err := std.out.Write(page)
		return result{}, err
	}
	if err := os.WriteFile(o.page, page, 0o644); err != nil {
		return result{}, err
	}
	return result{print: func(b *cli.Page) {
		pageWritten(b, o.page, len(page))
		printNotes(b, c.inputNotes())
	}}, nil
}

// pageWritten says which file holds the page.
func pageWritten(b *cli.Page, file string, size int) {
	b.Say("%s holds the page (%s): open it in a browser.\n", file, humanize.Bytes(uint64(size)))
}

// servePage serves the page until the user interrupts. The program answers the page.
func servePage(document model.Document, o *options, std stdio) (result, error) {
	listener, err := net.Listen("tcp", o.pageAddress)
	if err != nil {
		return result{}, err
	}
	fmt.Fprintf(std.out, "The page is on http://%s (end with Ctrl-C)\n", listener.Addr())
	return result{status: cli.StatusYes}, untilInterrupted(std, listener, fromHere(site.Program(document)), time.Second, func() {})
}

// buildPage is replaced in tests, which need no WebAssembly.
var buildPage = site.Build

// document is the cluster as the page reads it.
func (c *cluster) document(o *options) (d model.Document, err error) {
	name := "the cluster"
	switch {
	case c.Sample != "":
		name = "the sample"
	case len(o.files) == 1 && o.files[0] != "-":
		name = o.files[0]
	}
	d = model.FromInput(c.Input, name, c.Now)
	d.Now = c.Now
	if c.Recorded != nil {
		d.Now = c.recordedRequest(o).Now
	}
	d.Fair, d.Strategies = c.Config.Sharing == preemption.Fair, c.Config.Strategies
	if d.Selected = o.workload; d.Selected == "" && c.Sample == answers.Samples[0] {
		d.Selected = answers.SampleWorkload
	}
	waits := func(w model.Waiting) bool { return w.Request.Workload.ID == d.Selected }
	if d.Selected != "" && !slices.ContainsFunc(d.Waiting, waits) {
		return d, fmt.Errorf("no workload %q waits in the input%s", d.Selected, nearest(d.Selected, pendingNames(c.Found.Pending)))
	}
	m, err := model.New(d)
	if err != nil {
		return d, err
	}
	m.SelectTelling(200)
	return m.Document(), nil
}
