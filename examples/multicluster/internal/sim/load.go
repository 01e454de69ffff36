package sim

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Stream is a kind of jobs that arrive at random. Each number is drawn evenly between its two
// bounds, both included.
type Stream struct {
	// Name begins the IDs.
	Name string
	// Cluster is the cluster that they go to; empty: every cluster.
	Cluster  string
	Queues   []string
	Priority int64
	Every    [2]time.Duration // between two arrivals
	Runs     [2]time.Duration
	Grace    [2]time.Duration
	Amount   [2]int64
	Of       quota.FlavorResource
}

// Draw returns the jobs of the streams over a time, in no particular order. The same seed
// gives the same jobs, in every version of Go.
func Draw(seed uint64, start time.Time, length time.Duration, streams ...Stream) []Job {
	var jobs []Job
	for i, s := range streams {
		r := random(seed + uint64(i)*0x9e3779b97f4a7c15)
		at := start
		for n := 0; ; n++ {
			at = at.Add(r.duration(s.Every))
			if at.Sub(start) >= length {
				break
			}
			jobs = append(jobs, Job{
				Cluster: s.Cluster, Arrives: at, Runs: r.duration(s.Runs), Grace: r.duration(s.Grace),
				Workload: workload.Workload{
					ID: fmt.Sprintf("%s-%05d", s.Name, n), Queue: s.Queues[r.between(0, int64(len(s.Queues)-1))], Priority: s.Priority,
					PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: []quota.Amount{
						{Flavor: s.Of.Flavor, Resource: s.Of.Resource, Amount: r.between(s.Amount[0], s.Amount[1])},
					}}},
				},
			})
		}
	}
	return jobs
}

// random is splitmix64.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) between(low, high int64) int64 {
	return low + int64(r.next()%uint64(max(1, high-low+1)))
}

// duration draws whole seconds, so that some events happen at the same instant.
func (r *random) duration(bounds [2]time.Duration) time.Duration {
	return time.Duration(r.between(int64(bounds[0]/time.Second), int64(bounds[1]/time.Second))) * time.Second
}
