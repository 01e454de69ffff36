package session

import (
	"maps"
	"slices"

	"github.com/cedesched/cede/quota/fairshare"
)

// victims holds who may yield, in order.
type victims struct {
	left map[string][]*job // by queue; of a job the pods that are left
	pods map[*job]batch    // of these jobs
	gone []fairshare.Unit
	jobs []*job // of which some are gone
}

// over notes that a job yields, and reports whether more do than may; zero: any number may.
func (v *victims) over(j *job, most int) bool {
	if !slices.Contains(v.jobs, j) {
		v.jobs = append(v.jobs, j)
	}
	return most > 0 && len(v.jobs) > most
}

// begin lists who may yield.
func (p *probe) begin() {
	p.line = victims{left: map[string][]*job{}, pods: map[*job]batch{}}
	for _, j := range p.may {
		var pods []int
		for i := range j.Pods {
			if j.phases[i].holds() {
				pods = append(pods, i)
			}
		}
		p.push(batch{j, pods})
	}
}

// push adds what is left of a job.
func (p *probe) push(b batch) {
	if len(b.pods) == 0 {
		return
	}
	j := &job{Group: b.job.Group, running: len(b.pods)}
	q := j.Workload.Queue
	p.line.left[q] = append(p.line.left[q], j)
	p.line.pods[j] = b
}

// pop takes what is left of the job that yields next.
func (p *probe) pop() (b batch, ok bool, err error) {
	var first []*job
	var next []fairshare.Unit
	for _, q := range slices.Sorted(maps.Keys(p.line.left)) {
		if list := p.line.left[q]; len(list) > 0 {
			j := slices.MinFunc(list, func(x, y *job) int { return compareJobs(y, x) })
			of := p.line.pods[j]
			first, next = append(first, j), append(next, fairshare.Unit{Queue: q, Usage: p.sum(of.job, of.pods)})
		}
	}
	at, err := p.rules.YieldsNext(p.line.gone, next)
	if at < 0 || err != nil {
		return b, false, err
	}
	j := first[at]
	q := j.Workload.Queue
	p.line.left[q] = slices.DeleteFunc(p.line.left[q], func(o *job) bool { return o == j })
	p.line.gone = append(p.line.gone, next[at])
	return p.line.pods[j], true, nil
}

// more returns the pods that yield next: one of the surplus of a job, else all that are left.
func (p *probe) more() (b batch, ok bool, err error) {
	for {
		left, ok, err := p.pop()
		if !ok || err != nil || p.action == Consolidation && p.line.over(left.job, p.search.most) {
			return b, false, err
		}
		b = left
		if n := len(left.pods); left.job.Minimum < n {
			b.pods = left.pods[n-1:]
		}
		if slices.ContainsFunc(b.pods, func(i int) bool { return p.hasYielded(left.job, i) }) {
			p.push(batch{left.job, slices.DeleteFunc(slices.Clone(left.pods), func(i int) bool { return p.hasYielded(left.job, i) })})
			continue
		}
		p.push(batch{left.job, left.pods[:len(left.pods)-len(b.pods)]})
		return b, true, nil
	}
}

func (p *probe) hasYielded(j *job, pod int) bool {
	return slices.ContainsFunc(p.yielded, func(b batch) bool { return b.job == j && slices.Contains(b.pods, pod) })
}
