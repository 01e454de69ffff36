package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/preemption"
)

// options are the options of the command line.
type options struct {
	files                                                     []string
	scheduler, workload, request, queue, name, flavor, output string
	namespace, only                                           string   // of what is asked about; of what is read alone
	typed                                                     bool     // workload is TYPE/NAME
	nodes                                                     []string // to drain
	given                                                     []given  // on the command line
	kube
	sample                                  string
	live, liveSaid                          bool
	priority, count                         int64
	prioritySaid                            bool     // -priority was given
	replicas                                []string // of pod sets, of a pending workload
	openGates                               bool     // of a pending workload
	at                                      string
	now                                     time.Time
	asked                                   bool // a time was given
	fair                                    bool
	strategies                              string
	sharingSaid                             bool // -fair was given
	in                                      time.Duration
	all, tree, stuck                        bool
	search                                  string // of next: whose search for victims
	newOnly                                 bool   // of safe: nothing that waits already
	pod                                     string // of safe, on its node
	allPods                                 bool   // of safe: each
	rules, to, quotas, policies, priorities []string
	applied, refers, switched               []string // by diff: files, queues and rules
	page, pageAddress                       string   // the file of the page, or where it is served
	width, cycles                           int      // -1: that of the terminal
	maxVictims                              int
	assumed, assumptions                    []string // as given; with those of files
	serve                                   serving
	dispatch                                dispatch
	audit                                   auditing
	resources                               []resource // that are read besides
	see                                     func(*objects.Object)
	config                                  preemption.Config
}

// outputs are the forms of an answer.
var outputs = []string{"text", "wide", "json", "yaml", "name"}

// isText reports whether the answer is printed for people.
func (o *options) isText() bool { return o.output == "text" || o.output == "wide" }

// common adds the flags of every verb.
func common(root *cobra.Command, o *options, std stdio) {
	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.StringArrayVarP(&o.files, "file", "f", nil, "read the cluster from `FILE` (- is standard input); may be given several times")
	live := "read the cluster by its API, as kubectl get does"
	if std.plugin {
		live += "; it is the default without -f and without a pipe"
	}
	flags.BoolVar(&o.live, "live", false, live)
	flags.StringVar(&o.sample, "sample", "", "read an embedded sample: `cluster|trouble|rules|kai` (cluster without any input)")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "ask about workloads of this `NAMESPACE`; where all namespaces may not be read, it is read alone")
	o.kube.flags(flags)
	flags.StringVar(&o.scheduler, "scheduler", "", "ask `kueue|kai` where the input holds objects of both")
	flags.StringVar(&o.at, "at", "", "decide for `TIME` (RFC 3339) instead of now")
	flags.DurationVar(&o.in, "in", 0, "decide for a time `LATER` than that, such as 20m")
	flags.BoolVar(&o.fair, "fair", false, "decide by fair sharing, or not (-fair=false); by default as the input says")
	flags.BoolVar(&o.config.Compat.RulesAlone, "rules-alone", false, "preemption rules take the place of the policies of queues that have rules; by default they come after them")
	flags.StringVar(&o.strategies, "strategies", "", "the `STRATEGIES` of fair sharing: LessThanOrEqualToFinalShare, LessThanInitialShare, or both with a comma (the default)")
	flags.StringArrayVar(&o.assumed, "assume", nil, "accept what is in doubt by a `FIELD`: its path as the answer names it, KIND/NAME of an object that is not in the input, KIND/NAME=missing if the cluster has none, or @FILE with one of these a line; may be given several times")
	flags.StringVarP(&o.output, "output", "o", "text", "print `text|wide|json|yaml|name`: wide is text as wide as needed, name the names alone")
	flags.IntVar(&o.width, "width", -1, "print for `COLUMNS`, 0 for as wide as needed; by default as wide as the terminal, or as needed")
	flags.Lookup("width").DefValue = "0" // not told: the usage says it
	choose(root, "scheduler", "kueue", "kai")
	choose(root, "sample", answers.Samples...)
	choose(root, "output", outputs...)
	choose(root, "strategies", "LessThanOrEqualToFinalShare", "LessThanInitialShare", "LessThanOrEqualToFinalShare,LessThanInitialShare")
}

// choose completes the values of a flag.
func choose(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// check returns what is wrong with the flags of every verb, and reads them.
func (o *options) check(c *cobra.Command) error {
	set := map[string]bool{}
	says := ""
	c.Flags().Visit(func(f *pflag.Flag) {
		set[f.Name] = true
		if _, of := f.Annotations[ofKubectl]; of {
			says = "-" + f.Name
		}
	})
	o.liveSaid, o.given = set["live"], flagsGiven(c)
	switch {
	case o.live && len(o.files) > 0:
		return errors.New("-live reads the cluster by its API and -f from a file: give one of them")
	case says != "" && (len(o.files) > 0 || o.sample != ""):
		return fmt.Errorf("%s is about a cluster that is read by its API, and -f and -sample are not: give one of them", says)
	case o.sample != "" && (o.live || len(o.files) > 0):
		return errors.New("-sample is an input: give it without -f and -live")
	case o.sample != "" && !slices.Contains(answers.Samples, o.sample):
		return fmt.Errorf("-sample %q: want %s", o.sample, strings.Join(answers.Samples, ", "))
	case o.scheduler != "" && o.scheduler != "kueue" && o.scheduler != "kai":
		return fmt.Errorf("-scheduler %q: want kueue or kai", o.scheduler)
	case !slices.Contains(outputs, o.output):
		return fmt.Errorf("-o %q: want %s", o.output, strings.Join(outputs, ", "))
	case set["width"] && o.width < 0:
		return fmt.Errorf("-width %d: want at least 0", o.width)
	}
	o.live = o.live || says != ""
	o.sharingSaid = set["fair"] || set["strategies"]
	var err error
	if o.assumptions, err = answers.Assumptions(o.assumed); err != nil {
		return fmt.Errorf("-assume %w", err)
	}
	if err := o.share(o.fair, o.strategies); err != nil {
		return err
	}
	if o.asked = o.at != ""; o.asked {
		if o.now, err = time.Parse(time.RFC3339, o.at); err != nil {
			return fmt.Errorf("-at %q: want a time as in 2026-11-21T12:00:00Z", o.at)
		}
	}
	return nil
}

// requestFlags adds the flags of a verb about one workload.
func requestFlags(c *cobra.Command, o *options) {
	flags := c.Flags()
	flags.StringVar(&o.workload, "workload", "", "the workload by `NAME`, as the argument gives it")
	flags.StringVar(&o.request, "request", "", "a new workload, and what a replica takes: `AMOUNTS` as in cpu=4,memory=8Gi")
	flags.StringVar(&o.queue, "queue", "", "the `QUEUE`, NAMESPACE/NAME for a local queue; of a pending workload, in place of its own")
	flags.Int64Var(&o.priority, "priority", 0, "the priority, in place of a pending workload's own")
	flags.Int64Var(&o.count, "count", 1, "the replicas of the new workload")
	flags.StringArrayVar(&o.replicas, "replicas", nil, "of a pending workload, other replicas: `PODSET=N`")
	flags.BoolVar(&o.openGates, "open-gates", false, "as if its preemption gates were open")
	flags.StringVar(&o.name, "name", "new", "the name of the new workload")
	flags.StringVar(&o.flavor, "flavor", "", "take these `FLAVORS` instead of choosing")
	quotaFlags(c, o, "ask with", " (diff -h: more)")
	policyFlag(c, o, "ask with")
}

// checkRequest returns what is wrong with the flags of [requestFlags].
func checkRequest(c *cobra.Command, o *options) error {
	set := c.Flags().Changed
	o.prioritySaid = set("priority")
	switch {
	case o.workload != "" && o.request != "":
		return errors.New("-workload names a workload of the input and -request describes a new one: give one of them")
	case o.request != "" && o.queue == "":
		return errors.New("-request needs -queue")
	case o.request == "" && (set("count") || set("name")):
		return errors.New("-count and -name describe a new workload: they need -request")
	case o.request != "" && len(o.replicas) > 0:
		return errors.New("-replicas is about a pending workload: the number of a new one is -count")
	case o.request != "" && o.openGates:
		return errors.New("-open-gates is about a pending workload: a new one has no gates")
	case o.request == "" && o.workload == "" && set("queue"):
		return errors.New("-queue needs -request or -workload")
	case o.count < 1:
		return fmt.Errorf("-count %d: want at least 1", o.count)
	}
	return nil
}

// share sets the configuration of fair sharing.
func (o *options) share(fair bool, strategies string) error {
	if !fair {
		if strategies != "" {
			return errors.New("-strategies are those of fair sharing: they need -fair")
		}
		return nil
	}
	o.config.Sharing = preemption.Fair
	if strategies == "" {
		return nil
	}
	for name := range strings.SplitSeq(strategies, ",") {
		var s preemption.FairStrategy
		if err := s.UnmarshalText([]byte(name)); err != nil {
			return fmt.Errorf("-strategies %q: %w", strategies, err)
		}
		o.config.Strategies = append(o.config.Strategies, s)
	}
	return nil
}
