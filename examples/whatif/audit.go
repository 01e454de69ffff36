package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/history"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/records"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// auditing are the options of audit.
type auditing struct {
	checkpoint time.Duration // how often workloads write checkpoints; zero: never
	resources  []string      // of which the use is what victims lose; empty: the GPUs, else CPUs
	page       string        // the file that the page is written into; empty: none
	skew       time.Duration // by how much the clocks behind the history may differ
	story      string        // of the victim or preemptor whose evictions are told whole; empty: of none
}

var auditVerb = verb{
	name: "audit", short: "was each eviction right: needed, permitted, cheapest; its cost",
	long: "Of each preemption in a history of Kueue, kube-scheduler or Slurm: did the preemptor need it, do the rules permit each victim, could one have stayed, what was lost, and would others have lost less? The history is the versions of the objects over time: what kubectl get --watch prints, an audit log of the API server, Events; or rows of sacct, with QOS, nodes, configuration and the log of slurmctld. What it does not say is unknown.",
	examples: []string{
		"audit -f history.jsonl",
		"audit -f audit.log -checkpoint 30m -story NAMESPACE/NAME",
		"audit -f history.jsonl -policy vision:minAdmitDuration=30m",
		"audit -f jobs.txt -f qos.txt -f nodes.json -f conf.txt -f slurmctld.log",
	},
	yes: "each preemption was right", no: "one was not", unknown: "each was right as far as is known, and one is unknown",
	own: true,
	flags: func(c *cobra.Command, o *options) {
		flags, a := c.Flags(), &o.audit
		flags.DurationVar(&a.checkpoint, "checkpoint", 0, "workloads write a checkpoint each `TIME`; by default never: all their time is lost")
		flags.StringSliceVar(&a.resources, "cost", nil, "what victims lose: `RESOURCES` times their time (GPUs, else CPUs)")
		flags.StringVar(&a.page, "page", "", "write a page for the browser, too, into `FILE`")
		flags.DurationVar(&a.skew, "skew", 0, "the clocks behind the history differ by up to `TIME`: what is as near has no order")
		flags.StringVar(&a.story, "story", "", "tell of `NAMESPACE/NAME` what it did and what was done to it")
		flags.StringArrayVar(&o.policies, "policy", nil, "judge also by QUEUE:POLICY=`VALUE`")
		flags.StringArrayVar(&o.quotas, "quota", nil, "judge also by QUEUE:FLAVOR:RESOURCE=`QUANTITY`")
		flags.StringArrayVar(&o.applied, "apply", nil, "judge also by the objects in `FILE`")
	},
	check: func(c *cobra.Command, o *options) error {
		switch a := &o.audit; {
		case o.sample != "":
			return errors.New("-sample is a cluster at an instant, and audit reads a history: give -f FILE")
		case o.live || o.liveSaid:
			return errors.New("-live is a cluster as it is, and audit reads a history: give -f FILE")
		case o.asked || o.in != 0:
			return errors.New("-at and -in: a history has its own times")
		case o.scheduler == "kai":
			return errors.New("-scheduler kai: histories of Kueue, kube-scheduler and Slurm are read")
		case c.Flags().Changed("page") && !strings.HasSuffix(a.page, ".html"):
			return fmt.Errorf("-page %q: want a file whose name ends in .html", a.page)
		case c.Flags().Changed("checkpoint") && a.checkpoint < time.Second:
			return fmt.Errorf("-checkpoint %v: want a second or more", a.checkpoint)
		case a.skew < 0 || a.skew > time.Hour:
			return fmt.Errorf("-skew %v: want an hour or less, and not below zero", a.skew)
		case slices.Contains(a.resources, ""):
			return errors.New("-cost: want the names of resources, as in -cost nvidia.com/gpu")
		}
		return nil
	},
	run: func(_ *cluster, o *options, std stdio) (result, error) {
		files := o.files
		if len(files) == 0 {
			files = []string{"-"}
		}
		sources, err := objects.Files(files, std.in)
		if err != nil {
			return result{}, err
		}
		a := &auditor{o: o, std: std}
		if err := a.read(sources); err != nil {
			return result{}, err
		}
		if err := errors.Join(a.judgeAll(), a.replayAll()); err != nil {
			return result{}, err
		}
		r := a.result()
		if o.audit.page == "" {
			return r, nil
		}
		size, err := a.writePage(o.audit.page)
		print := r.print
		r.print = func(b *cli.Page) { print(b); pageWritten(b, o.audit.page, size) }
		return r, err
	},
}

// every is the cost of a victim that writes checkpoints: what it takes of some resources × the seconds since the last one.
type every struct {
	checkpoint time.Duration // zero: it writes none
	of         preemption.CostByAge
}

func (c every) Lost(w workload.Workload, podSet string, now time.Time) int64 {
	if age := now.Sub(w.ReservedAt); c.checkpoint > 0 && age > 0 && !w.ReservedAt.IsZero() {
		w.ReservedAt = now.Add(-(age % c.checkpoint))
	}
	return c.of.Lost(w, podSet, now)
}

// past is the history of one scheduler, whose preemptions it judges. They come to Judge in the order of Evictions.
type past interface {
	Span() (first, last time.Time)
	Evictions() []history.Eviction
	Judge(*judged) error
	Notes() []string // on what the history lacks
}

// judged is a preemption of the history and what is to be said of it.
type judged struct {
	history.Eviction
	Queue string `json:"queue,omitempty"` // of the preemptor
	// Verdict is Right, Fitted, TooMany, NotPermitted or Unknown.
	Verdict string `json:"verdict"`
	// Finding is about the cluster as it was, PodFinding about its nodes. Both absent: the verdict is Unknown, or of Slurm.
	Finding    *audit.Finding    `json:"finding,omitempty"`
	PodFinding *audit.PodFinding `json:"podFinding,omitempty"`
	// Why says what kept victims that the rules do not permit.
	Why []string `json:"why,omitempty"`
	// Notes are what the finding takes for granted.
	Notes []string `json:"notes,omitempty"`
	// Changed is the verdict with the changes of the command line. Absent: there are none, or it is not known.
	Changed string `json:"changed,omitempty"`
	// Stays lists the victims that could stay, Lost and Avoidable are sums, as in Finding, where there is none: of a history of Slurm.
	Stays     []string `json:"stays,omitempty"`
	Lost      int64    `json:"lost,omitempty"`
	Avoidable int64    `json:"avoidable,omitempty"`
	// Circle lists the victims that took their room back from the preemptor later.
	Circle []string `json:"circle,omitempty"`

	found *found
}

// found is a finding as it is printed, whatever scheduler it is of.
type found struct {
	verdict         audit.Verdict
	lost, avoidable int64
	victims         []foundVictim // as those of the eviction
	leaving         string        // who was leaving already, which was enough; empty: nobody, or it was not
	cheaper         string        // whose leaving would have lost less; empty: see instead
	instead         string        // what was to be done in place of it; empty: nothing, or somebody cheaper
}

// foundVictim is what is to be said of a victim.
type foundVictim struct {
	lost  int64
	stays bool   // it could stay
	right string // by which it yields; empty: it has none, or none was needed
}

// auditor judges the preemptions of a history.
type auditor struct {
	pasts       []past
	first, last time.Time
	o           *options
	std         stdio
	list        []judged
	resources   []string  // whose use counts as lost
	replayed    *replayed // nil: nothing was replayed
	notes       []string
}

// read reads the history of each scheduler.
func (a *auditor) read(sources []objects.Source) error {
	sources, err := a.readSlurm(sources)
	if err != nil {
		return err
	}
	if len(sources) > 0 {
		if err := a.readObjects(sources); err != nil {
			return err
		}
	}
	for _, p := range a.pasts {
		first, last := p.Span()
		if a.first.IsZero() || first.Before(a.first) {
			a.first = first
		}
		if last.After(a.last) {
			a.last = last
		}
		a.notes = append(a.notes, p.Notes()...)
	}
	return nil
}

// readObjects reads a history of Kubernetes: of Kueue, of kube-scheduler, or both.
func (a *auditor) readObjects(sources []objects.Source) error {
	h, err := history.Read(sources, a.o.audit.skew)
	if err != nil {
		return err
	}
	pods := &podsPast{auditor: a, history: h.Pods, player: h.Pods.Play()}
	switch evictions := h.Pods.Evictions(); {
	case h.IsEmpty():
		pods.notes = h.Notes
		a.pasts = append(a.pasts, pods)
	case len(evictions) > 0:
		a.pasts = append(a.pasts, pods)
		fallthrough
	default:
		a.pasts = append(a.pasts, &kueuePast{auditor: a, history: h, player: h.Play(), now: newMoment()})
	}
	if slices.Contains(a.pasts, past(pods)) {
		return podsUnread(a.o)
	}
	return nil
}

// unknownVerdict is the verdict on what the history does not decide.
const unknownVerdict = "Unknown"

// judgeAll judges each preemption.
func (a *auditor) judgeAll() error {
	progress := a.std.screen.Start("preemptions judged", -1)
	defer progress.Done()
	for _, p := range a.pasts {
		for _, e := range p.Evictions() {
			j := judged{Eviction: e}
			if err := p.Judge(&j); err != nil {
				return err
			}
			if j.Unknown != "" {
				j.Verdict, j.Changed, j.Finding, j.PodFinding, j.found = unknownVerdict, "", nil, nil, nil
			} else {
				j.Verdict = j.found.verdict.String()
			}
			a.list = append(a.list, j)
			progress.Add(1)
		}
	}
	slices.SortStableFunc(a.list, func(x, y judged) int { return x.At.Compare(y.At) })
	a.findCircles()
	return nil
}

// findCircles finds victims that later preempted who had preempted them.
func (a *auditor) findCircles() {
	type pair struct{ by, of string }
	last := map[pair]int{}
	for i := range a.list {
		for _, v := range a.list[i].Victims {
			last[pair{a.list[i].Preemptor, v.Workload}] = i
		}
	}
	for i := range a.list {
		j := &a.list[i]
		for _, v := range j.Victims {
			if back, is := last[pair{v.Workload, j.Preemptor}]; is && back > i && j.Preemptor != "" {
				j.Circle = append(j.Circle, v.Workload)
			}
		}
	}
}

// cost is what a victim loses, by the command line. The resources are those of the cluster.
func (a *auditor) cost(resources []string) preemption.Cost {
	if a.resources == nil {
		a.resources = a.o.audit.resources
	}
	for _, of := range []func(string) bool{records.IsGPU, func(r string) bool { return r == "cpu" }} {
		for _, r := range resources {
			if len(a.o.audit.resources) == 0 && of(r) && !slices.Contains(a.resources, r) {
				a.resources = append(a.resources, r)
			}
		}
		if len(a.resources) > 0 {
			break
		}
	}
	slices.Sort(a.resources)
	return every{a.o.audit.checkpoint, preemption.CostByAge{Resources: a.resources}}
}

// hours says what was lost as people count it.
func (a *auditor) hours(lost int64) string {
	unit := "hours"
	switch {
	case len(a.resources) == 1 && a.resources[0] == "cpu":
		lost, unit = lost/1000, "CPU hours"
	case slices.ContainsFunc(a.resources, records.IsGPU):
		unit = "GPU hours"
	case len(a.resources) > 0:
		unit = strings.Join(a.resources, " and ") + " hours"
	}
	if h := quota.Add(lost, 180) / 360; h < 1000 {
		return fmt.Sprintf("%d.%d %s", h/10, h%10, unit)
	}
	return fmt.Sprintf("%d %s", quota.Add(lost, 1800)/3600, unit)
}
