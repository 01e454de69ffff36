package kai

import (
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Annotations and labels of pods that take a part of a GPU, and of nodes.
const (
	fractionAnnotation = "gpu-fraction"
	memoryAnnotation   = "gpu-memory" // in MiB
	deviceLabel        = "runai-gpu-group"
	gpuMemoryLabel     = "nvidia.com/gpu.memory" // in MiB; old versions wrote bytes
	countsLabel        = "gpu-counts"            // of a pod in the state: thousandths in its queue
)

// noMemory is the memory of the GPUs of a node that does not say it.
const noMemory = 100

// part is what a pod takes of a GPU that it shares.
type part struct {
	counts, least int64             // thousandths of a GPU: in its queue, and at least on a node
	labels        map[string]string // in the state: see [Devices]
}

// gpuMemory returns the memory of each GPU of a node, as KAI rounds it.
func gpuMemory(labels map[string]string) (memory int64, known bool) {
	memory, err := strconv.ParseInt(labels[gpuMemoryLabel], 10, 64)
	if err != nil {
		return noMemory, false
	}
	if memory >= 1<<20 {
		memory /= 1 << 20
	}
	return memory - memory%100, memory >= 100
}

// hundredths is a part as queues count it: KAI rounds it.
func hundredths(rounded float64) int64 { return int64(rounded) * (wholeGPU / 100) }

// partOf returns what a pod takes of a GPU; nil: no part, or what is not known of it.
func (o *Objects) partOf(p *Pod) (of *part, path string, err error) {
	fraction, byFraction := p.Metadata.Annotations[fractionAnnotation]
	memory, byMemory := p.Metadata.Annotations[memoryAnnotation]
	path = "metadata.annotations[" + fractionAnnotation + "]"
	switch {
	case p.isForeign() || !byFraction && !byMemory:
		return nil, "", nil
	case byFraction && byMemory:
		return nil, path, fmt.Errorf("it takes a part of a GPU by %s and by %s", fractionAnnotation, memoryAnnotation)
	case byFraction:
		if of = fractionOf(fraction); of == nil {
			err = fmt.Errorf("%q is no part of a GPU: want a number between 0 and 1", fraction)
		}
		return of, path, err
	}
	path = "metadata.annotations[" + memoryAnnotation + "]"
	takes, err := strconv.ParseInt(memory, 10, 64)
	if err != nil || takes <= 0 {
		return nil, path, fmt.Errorf("%q is no memory of a GPU: want a number of MiB", memory)
	}
	has, err := o.memoryFor(p)
	switch {
	case err != nil:
		return nil, path, err
	case takes > has:
		return nil, path, fmt.Errorf("it takes %d MiB, and a GPU has %d", takes, has)
	}
	return &part{counts: hundredths(math.Ceil(float64(takes) / float64(has) * 100)), least: takes * wholeGPU / has, labels: map[string]string{memoryAnnotation: memory}}, path, nil
}

// fractionOf returns a part by its text; nil: it is none.
func fractionOf(text string) *part {
	portion, err := strconv.ParseFloat(text, 64)
	if err != nil || !(portion > 0 && portion < 1) {
		return nil
	}
	return &part{counts: hundredths(math.Round(portion * 100)), least: int64(portion * wholeGPU), labels: map[string]string{fractionAnnotation: text}}
}

// Share lets a pod of a state take a part of a GPU: of one of its node, by name, or of any (empty). It reports false, and changes nothing, of
// what is no part.
func Share(p *workload.Pod, fraction, device string) bool {
	of := fractionOf(fraction)
	if of == nil {
		return false
	}
	of.labels[countsLabel] = strconv.FormatInt(of.counts, 10)
	if device != "" {
		of.labels[deviceLabel] = p.Node + "/" + device
	}
	p.Requests, p.Labels = maps.Clone(p.Requests), of.labels
	p.Requests[GPU] = of.least
	return true
}

// Device names the GPU of its node of which a pod of a state has a part; empty: it takes none, or it is not said of which.
func Device(p *workload.Pod) string {
	node, device, _ := strings.Cut(p.Labels[deviceLabel], "/")
	if node != p.Node {
		return "" // it has moved
	}
	return device
}

// GoesAnywhere takes back of which GPU a pod has a part: it gets another one.
func GoesAnywhere(p *workload.Pod) {
	if p.Labels[deviceLabel] != "" {
		p.Labels = maps.Clone(p.Labels)
		delete(p.Labels, deviceLabel)
	}
}

// describedPart is the part that a workload describes which asks for less than a GPU; nil: it does not.
func describedPart(asks bridge.Quantity) *part {
	of := fractionOf(asks.String())
	if of != nil {
		of.labels[countsLabel] = strconv.FormatInt(of.counts, 10)
	}
	return of
}

// memoryFor returns the memory of the GPU of which a pod takes a part: that of its node, or, while it waits, of all nodes with GPUs. KAI counts
// what waits by the smallest and the largest of them.
func (o *Objects) memoryFor(p *Pod) (memory int64, err error) {
	if p.Holds() {
		n := o.nodes.Get(p.Spec.NodeName)
		if n == nil {
			return 0, fmt.Errorf("its node %s is not in the input: how much memory a GPU has there is not known", p.Spec.NodeName)
		}
		return memoryOf(n)
	}
	for _, n := range o.nodes.All() {
		if n.Metadata.Labels[poolLabel] != "" || n.Status.Allocatable[gpus[0]].Amount(gpus[0]) == 0 {
			continue
		}
		has, err := memoryOf(n)
		if err != nil {
			return 0, err
		}
		if memory != 0 && memory != has {
			return 0, fmt.Errorf("GPUs have %d MiB on some nodes and %d on others: which part it takes is not known", min(memory, has), max(memory, has))
		}
		memory = has
	}
	if memory == 0 {
		return 0, fmt.Errorf("no node with GPUs is in the input: how much memory a GPU has is not known")
	}
	return memory, nil
}

func memoryOf(n *Node) (int64, error) {
	memory, known := gpuMemory(n.Metadata.Labels)
	if !known {
		return 0, fmt.Errorf("Node %s has no label %s: how much memory a GPU has there is not known", n.Metadata.Name, gpuMemoryLabel)
	}
	return memory, nil
}

// share finds out what a pod takes of a GPU that it shares, and on which. What is not known is a doubt. b is its BindRequest; nil: none.
func (g *groups) share(o *Objects, p *Pod, b *BindRequest) *Pod {
	of, path, err := o.partOf(p)
	if err != nil && !p.ended() {
		g.doubtAll("Pod "+p.Metadata.ID(), path, "%v", err)
	}
	if of == nil {
		return p
	}
	sharer, device := *p, p.Metadata.Labels[deviceLabel]
	sharer.part = of
	if b != nil && len(b.Spec.SelectedGPUGroups) > 0 {
		if device = b.Spec.SelectedGPUGroups[0]; len(b.Spec.SelectedGPUGroups) > 1 {
			g.doubtAll("BindRequest "+b.Metadata.ID(), "spec.selectedGPUGroups", "its pod takes parts of several GPUs")
		}
	}
	switch {
	case !p.Holds() || p.ended():
	case device != "":
		of.labels[deviceLabel] = p.Spec.NodeName + "/" + device
	default: // KAI then counts it on no GPU
		of.least, of.labels = 0, map[string]string{}
		g.maybe("Pod "+p.Metadata.ID(), "metadata.labels["+deviceLabel+"]", "it takes a part of a GPU and does not say of which: KAI takes its node for emptier than it is")
	}
	of.labels[countsLabel] = strconv.FormatInt(of.counts, 10)
	if !p.ended() {
		g.rounded = quota.Add(g.rounded, max(0, of.counts-of.least))
	}
	return &sharer
}

// Counts is what a pod of the state counts of a resource in its queue. On a node it may take less: KAI rounds what counts.
func Counts(p *workload.Pod, resource string) int64 {
	if text, shares := p.Labels[countsLabel]; shares && resource == GPU {
		n, _ := strconv.ParseInt(text, 10, 64) // of this package
		return n
	}
	return p.Requests[resource]
}

// withGPU replaces the GPUs of a list.
func withGPU(list []quota.Amount, amount int64) (out []quota.Amount) {
	if amount > 0 {
		out = append(out, quota.Amount{Resource: GPU, Amount: amount}) // GPU is the first by name
	}
	for _, a := range list {
		if a.Resource != GPU {
			out = append(out, a)
		}
	}
	return out
}
