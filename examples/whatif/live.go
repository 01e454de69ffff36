package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
	objects "github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/rooms"
)

// What kubectl is asked for, by scheduler.
var liveKinds = map[string]string{
	"":      "clusterqueues,cohorts,localqueues,resourceflavors,workloads." + kueue.Group,
	"kueue": "clusterqueues,cohorts,localqueues,resourceflavors,workloads." + kueue.Group,
	"kai":   "queues.scheduling.run.ai,podgroups.scheduling.run.ai,bindrequests.scheduling.run.ai,pods,nodes,priorityclasses",
}

// readLive reads the cluster with kubectl get.
func readLive(o *options, std stdio, nodes *rooms.Nodes) (answers.Input, error) {
	args := []string{"get", strings.Join(append([]string{liveKinds[o.scheduler]}, o.kinds...), ","), "-o", "json"}
	if o.context != "" {
		args = append(args, "--context", o.context)
	}
	configuration := append([]string{"get", "configmap", "kueue-manager-config", "-n", "kueue-system", "--ignore-not-found"}, args[2:]...)
	if o.namespace != "" {
		args = append(args, "-n", o.namespace)
	} else {
		args = append(args, "-A")
	}
	progress := std.screen.Start("KiB read from kubectl", -1)
	defer progress.Done()
	k, err := startKubectl(args)
	if err != nil {
		return answers.Input{}, err
	}
	sources := []objects.Source{{Name: "kubectl", Reader: progress.Reader(k)}}
	var notes []string
	if o.scheduler != "kai" {
		text, err := kubectl(configuration)
		if err != nil {
			notes = append(notes, fmt.Sprintf("the configuration of Kueue was not read (%v): whether sharing is fair is known from the queues alone", err))
		} else if len(bytes.TrimSpace(text)) > 0 {
			sources = append(sources, objects.Source{Name: "kubectl", Reader: bytes.NewReader(text)})
		}
	}
	var unread []string
	if o.scheduler != "kai" {
		var list []objects.Source
		list, unread = liveRules(args[2:])
		sources = append(sources, list...)
	}
	in, err := answers.ReadSeen(sources, o.scheduler, nodes.Add, o.see)
	if failed := k.stop(); failed != nil {
		return answers.Input{}, failed // what was read then is not the whole cluster
	}
	if err == nil {
		var problem string
		if in, problem = liveMore(in, o, args[2:], nodes); problem != "" {
			notes = append(notes, problem)
		}
	}
	in.Found.Warnings = append(in.Found.Warnings, notes...)
	for _, text := range unread {
		in.DoubtAll("preemptionconfigs", text)
	}
	doubtNamespace(&in, o)
	return in, err
}

// doubtNamespace says that only one namespace was read, if so.
func doubtNamespace(in *answers.Input, o *options) {
	if o.namespace != "" {
		in.DoubtAll("namespace", fmt.Sprintf("only namespace %s was read: what workloads of other namespaces hold does not count", o.namespace))
	}
}

// nodeKinds are what room in a topology depends on, beside the rest.
var nodeKinds = []string{"nodes", "pods"}

// liveMore reads what only some clusters need: topologies with their nodes, admission checks, and the labels of namespaces.
// problem says why they were not read. What is not there then is missing in the cluster.
func liveMore(in answers.Input, o *options, args []string, nodes *rooms.Nodes) (with answers.Input, problem string) {
	var kinds []string
	if len(in.Found.Topologies) > 0 {
		kinds = []string{"topologies." + kueue.Group}
	}
	if slices.ContainsFunc(in.Missing(), func(name string) bool { return strings.HasPrefix(name, "AdmissionCheck/") }) {
		kinds = append(kinds, "admissionchecks."+kueue.Group)
	}
	if len(in.Found.Topologies) > 0 && o.namespace == "" { // of one namespace not all that runs is known
		kinds = append(kinds, nodeKinds...)
	}
	if in.Found.NeedsNamespaces() {
		kinds = append(kinds, "namespaces")
	}
	if len(kinds) == 0 {
		return missing(in), ""
	}
	all := strings.Join(kinds, ",")
	text, err := kubectl(append([]string{"get", all}, args...))
	if err == nil {
		with, err = in.WithBeside([]objects.Source{{Name: "kubectl", Reader: bytes.NewReader(text)}}, nodes.Add)
	}
	if err != nil {
		*nodes = rooms.Nodes{}
		return in, fmt.Sprintf("%s were not read (%v): what depends on them is not known", all, err)
	}
	read := in.Found.Warnings[:len(in.Found.Warnings)-len(in.Found.Notes)] // of the input, not of its objects
	with.Found.Warnings = append(slices.Clone(read), with.Found.Warnings...)
	return missing(with), ""
}

// missing takes what is named and was not found for missing: all objects of its kind were read.
func missing(in answers.Input) answers.Input {
	var list []string
	for _, name := range in.Missing() {
		list = append(list, name+"=missing")
	}
	_ = in.Assume(list, false) // they are of the form
	return in
}

// rulesKinds are the kinds of preemption rules and limits, which many clusters do not have.
var rulesKinds = []string{"preemptionconfigs." + kueue.Group, "preemptionlimits." + kueue.Group}

// liveRules reads what there is of preemption rules and limits. problems say why something was not
// read although it may be there.
func liveRules(args []string) (sources []objects.Source, problems []string) {
	for _, kind := range rulesKinds {
		text, err := kubectl(append([]string{"get", kind}, args...))
		switch {
		case err == nil && len(bytes.TrimSpace(text)) > 0:
			sources = append(sources, objects.Source{Name: "kubectl", Reader: bytes.NewReader(text)})
		case err != nil && !strings.Contains(err.Error(), "the server doesn't have a resource type"):
			problems = append(problems, fmt.Sprintf("%s were not read (%v): decided without them", kind, err))
		}
	}
	return sources, problems
}

// running is a kubectl that runs.
type running struct {
	io.Reader
	cmd    *exec.Cmd
	errors bytes.Buffer
}

// startKubectl starts kubectl; its output is read while it runs.
func startKubectl(args []string) (*running, error) {
	k := &running{cmd: exec.Command("kubectl", args...)}
	k.cmd.Stderr = &k.errors
	out, err := k.cmd.StdoutPipe()
	if err == nil {
		err = k.cmd.Start()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("kubectl is not on the PATH")
	}
	k.Reader = out
	return k, err
}

// stop reads what is left and returns how kubectl failed.
func (k *running) stop() error {
	_, _ = io.Copy(io.Discard, k.Reader)
	err := k.cmd.Wait()
	if err == nil {
		return nil
	}
	said, _, _ := strings.Cut(strings.TrimSpace(k.errors.String()), "\n")
	if said == "" {
		said = err.Error()
	}
	return fmt.Errorf("kubectl: %s", said)
}

// kubectl returns the output of kubectl.
func kubectl(args []string) ([]byte, error) {
	k, err := startKubectl(args)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(k)
	return text, errors.Join(k.stop(), err)
}
