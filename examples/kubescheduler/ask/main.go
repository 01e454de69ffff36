// Ask asks kube-scheduler v1.37.2 itself about a pod or pod group: its own scheduler and its own preemption, over the objects
// that kubectl get -o json prints, without an API server.
//
//	kubectl get ... -A -o json | ask -pod NAMESPACE/NAME
//
// It prints an object: outcome (fits, preempts, no, not tried), nodes, victims, message. Exit status: 0 if it fits or preempts,
// 1 if not, 2 for bad usage or input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/kubescheduler/offline"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, in io.Reader, out, bad io.Writer) int {
	flags := flag.NewFlagSet("ask", flag.ContinueOnError)
	var q offline.Question
	flags.StringVar(&q.Pod, "pod", "", "ask about the pod `NAMESPACE/NAME` that waits in the input")
	flags.StringVar(&q.Group, "group", "", "ask about the pod group `NAMESPACE/NAME` that waits in the input")
	flags.BoolVar(&q.Composite, "composite", false, "the group is a CompositePodGroup")
	const usage = "usage: ask -pod NAMESPACE/NAME | -group NAMESPACE/NAME [-composite] < OBJECTS"
	switch err := cli.Parse(flags, args, usage, out, "-pod NAMESPACE/NAME < cluster.json", "-group NAMESPACE/NAME < cluster.json", "-group NAMESPACE/NAME -composite < cluster.json"); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(bad, "ask:", err)
		return 2
	}
	a, err := ask(q, in)
	if err == nil {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(a)
	}
	switch {
	case err != nil:
		fmt.Fprintln(bad, "ask:", err)
		return 2
	case a.Outcome == offline.Fits || a.Outcome == offline.Preempts:
		return 0
	}
	return 1
}

func ask(q offline.Question, in io.Reader) (offline.Answer, error) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if (q.Pod == "") == (q.Group == "") {
		return offline.Answer{}, fmt.Errorf("give -pod or -group")
	}
	objects := new(offline.Objects)
	if _, err := input.Read([]input.Source{{Name: "standard input", Reader: in}}, input.Options{Lost: objects.Lose}, objects.Add); err != nil {
		return offline.Answer{}, err
	}
	if err := objects.SetFeatures(q.Group != ""); err != nil {
		return offline.Answer{}, err
	}
	return offline.Run(context.Background(), objects, q, nil)
}
