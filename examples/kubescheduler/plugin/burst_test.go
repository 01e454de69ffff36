package plugin

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// A burst of pods, each of which takes the room of one on full nodes: the time until all are bound, by kube-scheduler as
// it is and with cede in turn. It is run by hand.
func TestBurst(t *testing.T) {
	size, err := strconv.Atoi(cmp.Or(os.Getenv("CEDE_BURST"), "0"))
	if err != nil || size == 0 {
		t.Skip("CEDE_BURST is no number of pods: ", err)
	}
	limit, err := strconv.Atoi(cmp.Or(os.Getenv("CEDE_BURST_QPS"), "50"))
	if err != nil {
		t.Fatal("CEDE_BURST_QPS: ", err)
	}
	c := newCluster(t)
	for _, by := range []string{"kube-scheduler", "cede", "cede", "kube-scheduler"} {
		configuration := byDefault
		if by == "cede" {
			configuration = bySample(t)
		}
		c.full(t, size/4+1, 0)
		front, d := c.behind(t, point{})
		front.limit = limit
		stop := front.schedule(t, configuration)
		began := time.Now()
		for i := range size {
			c.submit(t, st.MakePod().Namespace("default").Name(fmt.Sprint("high-", i)).Priority(100).
				Req(map[v1.ResourceName]string{"cpu": "1"}).Obj(), 0)
		}
		for bound := 0; bound < size; time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > 10*time.Minute {
				t.Fatalf("%s: %d pods are bound", by, bound)
			}
			bound = 0
			for _, p := range c.all(t) {
				if isBound(&p) && *p.Spec.Priority == 100 {
					bound++
				}
			}
		}
		t.Logf("%s: bound after %v; writes: %v", by, time.Since(began).Round(100*time.Millisecond), d.writes)
		stop()
		c.clear(t)
	}
}
