package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// Reclaiming returns a full cluster with fair shares, for [preemption.KAI], and a gang of so many pods that waits in a queue within its
// share. About as many pods run as given, at least 1,000, in 1,110 queues of three levels, ten below each; each is a workload of one GPU. In nine of the
// ten divisions all queues are over their shares: by the same part of them if they are alike, else by parts that differ a little.
func Reclaiming(pods int, alike bool, gang int64) (preemption.State, preemption.Request) {
	w := reclaiming{pods: pods, alike: alike}
	for i := range 10 {
		w.add(fmt.Sprint(i), "", 0)
	}
	for _, all := range onePod(int64(len(w.Admitted))) {
		w.FairShares.Resources = append(w.FairShares.Resources, fairshare.Resource{Name: all.Resource, Total: all.Amount, Unit: 1000})
	}
	w.Cohorts, w.Queues = preemption.QueuesOf(w.FairShares, "all queues", "default")
	asks := workload.Workload{ID: "gang", Queue: waits, Priority: 50, Created: sharesNow, PodSets: []workload.PodSet{{Name: "main", Count: gang, Requests: onePod(1)}}}
	return w.State, preemption.Request{Workload: asks, Now: sharesNow}
}

// waits is the queue in which a gang waits.
const waits = "0-0-0"

var sharesNow = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type reclaiming struct {
	preemption.State
	pods  int
	alike bool
}

// add adds a queue with others below it, or with pods that run, and returns how many.
func (w *reclaiming) add(name, parent string, level int) (run int) {
	at := len(w.FairShares.Queues)
	w.FairShares.Queues = append(w.FairShares.Queues, fairshare.Queue{})
	for i := range 10 {
		if level < 2 {
			run += w.add(fmt.Sprintf("%s-%d", name, i), name, level+1)
		}
	}
	request := int64(0)
	switch {
	case name == waits:
		request = int64(w.pods / 10)
	case level == 2:
		if run = w.pods / 1000; !w.alike {
			run += (len(w.Admitted)*37%41 - 20) * w.pods / 100_000
		}
		request = int64(run)
	}
	weight := float64(max(run, 1))
	if strings.HasPrefix(waits, name) {
		weight = float64(3 * w.pods)
	}
	of := fairshare.Queue{Name: name, Parent: parent}
	for _, each := range onePod(1) {
		of.Claims = append(of.Claims, fairshare.Claim{Resource: each.Resource, OverQuotaWeight: weight, Request: each.Amount * request})
	}
	w.FairShares.Queues[at] = of
	for range request {
		if n := len(w.Admitted); name != waits {
			since := sharesNow.Add(-time.Duration(n%1000) * time.Minute)
			w.Admitted = append(w.Admitted, workload.Workload{ID: fmt.Sprintf("%s/%06d", name, n), Queue: name, Priority: 50, Created: since, ReservedAt: since,
				PodSets: []workload.PodSet{{Name: "main", Count: 1, Requests: onePod(1)}}})
		}
	}
	return run
}

// onePod returns n times what a pod of eight cores and a GPU requests.
func onePod(n int64) []quota.Amount {
	return []quota.Amount{{Flavor: "default", Resource: "cpu", Amount: 8000 * n}, {Flavor: "default", Resource: "memory", Amount: n << 34},
		{Flavor: "default", Resource: "gpu", Amount: 1000 * n}}
}
