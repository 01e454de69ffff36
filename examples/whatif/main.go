// Whatif answers for a cluster in its present state: does this workload fit, which workloads does it
// preempt and why, or why none?
//
//	kubectl get clusterqueues,cohorts,localqueues,resourceflavors,topologies,admissionchecks,workloads.kueue.x-k8s.io -A -o json |
//	  whatif
//
// The input is standard input or -f FILE, given once or several times: Kueue's objects as
// kubectl prints them, or KAI's (queues, pod groups, pods, priority classes), or cede's own
// State or Record; JSON or YAML, plain or gzip. If there are objects of both Kueue and KAI,
// -scheduler chooses. An object that cannot be read is left out, with a note. With -live it
// lists the objects by the API of the cluster, and does nothing else. It answers about all that waits, or about one
// workload: a pending one, NAMESPACE/NAME, or a new one:
//
//	whatif -f cluster.json -request cpu=4,nvidia.com/gpu=8 -queue team-a -priority 100
//
// A Record contains its own request. Without arguments the input is an embedded sample.
//
// That are the verbs overview and ask. There are others; whatif -h lists them:
//
//	overview  every pending workload in one line
//	next      the next admission cycles
//	why       how the answer came about, and what would change it; also explain
//	lint      what will hurt in the configuration
//	diff      which answers change between two states, or with another quota, policy, priority
//	safe      until when a running workload keeps its place, and who may take it then
//	guarantees  what the settings guarantee to the jobs of each queue, whatever runs
//	multikueue  of a workload sent to several clusters: which gate opens when, and who yields where
//	page      a page for the browser with the cluster in it, served or in one file (-o FILE)
//	serve     the same answers over HTTP, for dashboards and other programs
//	mcp       the same as tools for agents, by the Model Context Protocol
//
// With -o json the answer is one object. That of ask:
//
//	verdict   the answer in one word (the outcome of the decision, Held or Unknown), and why
//	request   the request
//	decision  the decision, with the flavors that were assigned; absent if nothing can be decided
//	victims   of each: workload, queue, reason, cohort, priority, leaving (already), reservedAt,
//	          age in seconds, holds (of what is requested)
//	queues    the queue tree of the request, top down: kind, name, depth, quota rows
//	notes     what the answer leaves out
//
// Installed under the name kubectl-cede it is a plugin of kubectl: kubectl cede overview. It
// then reads the cluster by its API unless -f or a pipe gives the cluster.
//
// Exit status of ask: 0 when it fits, at once or by preemption; 1 when it does not, or not yet, or is
// held, that is, not considered by the scheduler; 3 when the answer depends on what cannot be read or is
// not supported. Each verb's help says what its 0, 1 and 3 mean. 2 is bad usage or input, with one line
// that says what.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/dynamic"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption/clock"
)

func main() {
	name, plugin := nameOf(os.Args[0])
	std := stdio{
		in: cli.Piped(), out: os.Stdout, err: os.Stderr, name: name, plugin: plugin,
		screen: cli.ScreenOf(os.Stdout, os.Stderr, os.Getenv), clock: clock.System{}, until: cli.Interrupted,
	}
	if at, err := os.Executable(); err == nil && !strings.Contains(filepath.ToSlash(at), "/go-build") { // go run builds there
		std.command = name
	}
	os.Exit(run(os.Args[1:], std))
}

// stdio is the process around the program.
type stdio struct {
	in       io.Reader // nil if standard input is a terminal
	out, err io.Writer
	screen   cli.Screen
	clock    clock.Clock
	until    func() (context.Context, context.CancelFunc) // ends when the user interrupts; nil: never
	name     string                                       // as the user calls the program
	command  string                                       // with which the user runs it, as messages show it; empty: go run
	plugin   bool                                         // it is called as a plugin of kubectl
	notRead  func()                                       // is called when a cluster that is followed cannot be read; nil: nobody counts
	connect  func(name string) (dynamic.Interface, error) // in place of the connection that flags and kubeconfig say; nil: that one
}

// interrupted returns a context that ends when the user interrupts.
func (s *stdio) interrupted() (context.Context, context.CancelFunc) {
	if s.until == nil {
		return context.WithCancel(context.Background())
	}
	return s.until()
}

// countNotRead counts a reading that failed.
func (s *stdio) countNotRead() {
	if s.notRead != nil {
		s.notRead()
	}
}

// nameOf returns the name by which the program was called: kubectl-cede is kubectl cede.
func nameOf(path string) (name string, plugin bool) {
	base := strings.TrimSuffix(filepath.Base(path), ".exe")
	if verb, ok := strings.CutPrefix(base, "kubectl-"); ok && verb != "" {
		return "kubectl " + strings.ReplaceAll(verb, "_", "-"), true
	}
	return "whatif", false
}

// run is main without the process. It returns the exit status.
func run(args []string, std stdio) int {
	status := 0
	root := newRoot(std, &status)
	root.SetArgs(cli.LongFlags(args, takesValue(root)))
	root.SetOut(std.out)
	root.SetErr(std.err)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(std.err, "%s: %s\n", std.name, printable.Line(strings.ReplaceAll(err.Error(), "\n", " ")))
		return 2
	}
	return status
}
