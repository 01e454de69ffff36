package world

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
)

// otherFlavor is the flavor of jobs that name none, where others do.
const otherFlavor = "other"

// Check fails on settings that do not go with the trace.
func (t *Trace) Check(s *Settings) error {
	if t.Cluster != nil {
		for _, key := range []string{"capacity", "gpus", "cpus", "limit", "cohorts", "within", "reclaim", "borrow", "strategy"} {
			if s.given[key] {
				return fmt.Errorf("%s: %s has no meaning: it is that of the objects of the cluster", t.Name, key)
			}
		}
	}
	names := t.flavors()
	for _, name := range slices.Sorted(maps.Keys(s.FlavorGPUs)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: gpus.%s: no job is of that flavor: want one of %s", t.Name, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// flavors returns the flavors of the jobs, the one of those that name none first.
func (t *Trace) flavors() []string {
	var names []string
	unnamed := false
	last := ""
	for i := range t.Jobs {
		switch name := t.Jobs[i].Flavor; {
		case name == "":
			unnamed = true
		case name != last && !slices.Contains(names, name):
			names = append(names, name)
			last = name
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return []string{Flavor}
	case unnamed && !slices.Contains(names, otherFlavor):
		return append([]string{otherFlavor}, names...)
	}
	return names
}

// New makes a world. Without a cluster the capacity is a part of the peak or a number, and the quotas are parts of the capacity.
func New(t Trace, s Settings) *World {
	w := &World{Trace: t, Settings: s, Unit: "GPU", queues: map[string]*queue.Queue{}}
	w.Notes = slices.Clone(t.Notes)
	w.count()
	w.band()
	w.recorded()
	if t.Cluster != nil {
		w.Queues, w.Cohorts, w.Rules = t.Cluster.Queues, t.Cluster.Cohorts, t.Cluster.Rules
		for i := range w.Queues {
			w.add(w.Queues[i].Quotas)
		}
		for i := range w.Cohorts {
			w.add(w.Cohorts[i].Quotas)
		}
	} else {
		w.Flavors = w.flavors()
		w.share()
	}
	for i := range w.Queues {
		w.queues[w.Queues[i].Name] = &w.Queues[i]
	}
	if len(w.Invented) > 0 {
		w.Notes = slices.Insert(w.Notes, 0, "Invented: "+strings.Join(w.Invented, "; ")+".")
	}
	return w
}

// add adds to the capacity.
func (w *World) add(quotas []quota.Quota) {
	for _, q := range quotas {
		if q.Resource == GPU {
			w.GPU += min(q.Nominal, math.MaxInt64-w.GPU)
		} else {
			w.CPU += min(q.Nominal, math.MaxInt64-w.CPU)
		}
	}
}

// count settles what is counted: GPUs, and CPUs where they count. If no job has a GPU, CPUs take the place of GPUs.
func (w *World) count() {
	gpus := slices.ContainsFunc(w.Jobs, func(j Job) bool { return j.GPU > 0 })
	switch {
	case !gpus:
		w.Unit = "CPU"
		w.Notes = append(w.Notes, "No job has a GPU: CPUs are counted in their place.")
		w.Jobs = slices.Clone(w.Jobs)
		for i := range w.Jobs {
			w.Jobs[i].GPU, w.Jobs[i].CPU = w.Jobs[i].CPU, 0
		}
		if w.Cluster != nil {
			w.Cluster = w.Cluster.ofCPUs()
		}
	case w.CountsCPU || w.Cluster != nil || w.CPUs > 0:
	case slices.ContainsFunc(w.Jobs, func(j Job) bool { return j.CPU > 0 }):
		kept := make([]Job, 0, len(w.Jobs))
		for _, j := range w.Jobs {
			if j.CPU = 0; j.GPU > 0 {
				kept = append(kept, j)
			}
		}
		text := "CPUs do not count (cpus=N makes them count)"
		if n := len(w.Jobs) - len(kept); n > 0 {
			text += fmt.Sprintf("; left out, without a GPU: %d", n)
		}
		w.Jobs, w.Notes = kept, append(w.Notes, text+".")
	}
}

// ofCPUs is the cluster with quotas for CPUs in the place of those for GPUs.
func (c *Cluster) ofCPUs() *Cluster {
	of := *c
	swapped := func(quotas []quota.Quota) (out []quota.Quota) {
		for _, q := range quotas {
			if q.Resource == CPU {
				q.Resource = GPU
				out = append(out, q)
			}
		}
		return out
	}
	of.Queues, of.Cohorts = slices.Clone(c.Queues), slices.Clone(c.Cohorts)
	for i := range of.Queues {
		of.Queues[i].Quotas = swapped(of.Queues[i].Quotas)
	}
	for i := range of.Cohorts {
		of.Cohorts[i].Quotas = swapped(of.Cohorts[i].Quotas)
	}
	return &of
}

// peak returns the most of a flavor that would be in use at one time if every job started on arrival.
func (w *World) peak(flavor string) (gpu, cpu int64) {
	type change struct{ at, gpu, cpu int64 }
	changes := make([]change, 0, 2*len(w.Jobs))
	for i := range w.Jobs {
		if j := &w.Jobs[i]; cmp.Or(j.Flavor, w.Flavors[0]) == flavor {
			changes = append(changes, change{j.Submit, j.GPU, j.CPU}, change{j.Submit + j.Work, -j.GPU, -j.CPU})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { // who leaves goes before who comes
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.cpu, b.cpu))
	})
	var gpus, cpus int64
	for _, c := range changes {
		gpus, cpus = gpus+c.gpu, cpus+c.cpu
		gpu, cpu = max(gpu, gpus), max(cpu, cpus)
	}
	return gpu, cpu
}

// largest returns the most of a flavor that one job takes.
func (w *World) largest(flavor string) (gpu, cpu int64) {
	for i := range w.Jobs {
		if j := &w.Jobs[i]; cmp.Or(j.Flavor, w.Flavors[0]) == flavor {
			gpu, cpu = max(gpu, j.GPU), max(cpu, j.CPU)
		}
	}
	return gpu, cpu
}

// capacities returns the capacity by flavor: whole GPUs, in thousandths.
func (w *World) capacities() (gpus, cpus []int64) {
	var gpuPeaks, cpuPeaks []Share
	note := fmt.Sprintf("the capacity, %d %% of the peak of the demand", w.Capacity)
	for _, f := range w.Flavors {
		gpu, cpu := w.peak(f)
		gpuPeaks, cpuPeaks = append(gpuPeaks, Share{f, gpu}), append(cpuPeaks, Share{f, cpu})
		gpu, cpu = gpu*w.Capacity/100/1000*1000, cpu*w.Capacity/100
		if mostGPU, mostCPU := w.largest(f); !w.given["capacity"] && (mostGPU > gpu || mostCPU > cpu) {
			gpu, cpu = max(gpu, (mostGPU+999)/1000*1000), max(cpu, mostCPU)
			note = fmt.Sprintf("the capacity, %d %% of the peak of the demand, or the largest job if that is more", w.Capacity)
		}
		gpus, cpus = append(gpus, gpu), append(cpus, cpu)
	}
	switch {
	case w.GPUs > 0:
		gpus = split(w.GPUs, gpuPeaks)
		for i := range gpus {
			gpus[i] *= 1000
		}
		if len(gpus) > 1 {
			w.Invented = append(slices.Clip(w.Invented), "the capacity of each flavor, by the peaks of the demand")
		}
	case len(w.FlavorGPUs) < len(w.Flavors):
		w.Invented = append(slices.Clip(w.Invented), note)
	}
	for i, f := range w.Flavors {
		if n, ok := w.FlavorGPUs[f]; ok {
			gpus[i] = n * 1000
		}
	}
	if w.CPUs > 0 {
		cpus = split(w.CPUs*1000, cpuPeaks)
	}
	return gpus, cpus
}

// share gives the queues their parts of the capacity of each flavor.
func (w *World) share() {
	s := &w.Settings
	w.Cohorts = []queue.Cohort{{Name: "all"}}
	for n := range s.Cohorts {
		w.Cohorts = append(w.Cohorts, queue.Cohort{Name: cohort(n), Parent: "all"})
	}
	policy := queue.PreemptionPolicy{
		WithinClusterQueue: s.Within, ReclaimWithinCohort: s.Reclaim,
		BorrowWithinCohort: queue.BorrowWithinCohort{Policy: s.Borrow},
	}
	for i, share := range w.Shares {
		q := queue.Queue{Name: share.Queue, Cohort: "all", Preemption: policy, Strategy: s.Strategy}
		if s.Cohorts > 0 {
			q.Cohort = cohort(i % s.Cohorts)
		}
		w.Queues = append(w.Queues, q)
	}
	gpus, cpus := w.capacities()
	withCPU := slices.ContainsFunc(cpus, func(n int64) bool { return n > 0 })
	for f, name := range w.Flavors {
		w.GPU, w.CPU = w.GPU+gpus[f], w.CPU+cpus[f]
		gpu, cpu := split(gpus[f], w.Shares), split(cpus[f], w.Shares)
		for i := range w.Queues {
			q := &w.Queues[i]
			q.Quotas = append(q.Quotas, s.quota(name, GPU, gpu[i]))
			if withCPU {
				q.Quotas = append(q.Quotas, s.quota(name, CPU, cpu[i]))
			}
		}
	}
}

// Requests returns what a job asks for. In a cluster a job that names no flavor is assigned one.
func (w *World) Requests(j *Job) []quota.Amount {
	gpu := j.Flavor
	if gpu == "" && len(w.Flavors) > 0 {
		gpu = w.Flavors[0]
	}
	cpu := gpu
	if w.Cluster != nil && gpu != "" {
		if of := flavors(w.queues[j.Queue], CPU); len(of) > 0 && !slices.Contains(of, gpu) {
			cpu = of[0]
		}
	}
	var requests []quota.Amount
	if j.GPU > 0 || w.Cluster == nil {
		requests = append(requests, quota.Amount{Flavor: gpu, Resource: GPU, Amount: j.GPU})
	}
	if j.CPU > 0 {
		requests = append(requests, quota.Amount{Flavor: cpu, Resource: CPU, Amount: j.CPU})
	}
	return requests
}
