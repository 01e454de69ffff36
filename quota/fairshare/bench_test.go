package fairshare

import (
	"fmt"
	"testing"

	"github.com/cedesched/cede/quota"
)

// thousand returns 1,000 queues in three levels: 10, 90 and 900. In the leaves 100,000 pods run and 20,000 wait.
func thousand() Tree {
	t := Tree{Resources: []Resource{
		{Name: "cpu", Total: 800_000_000}, {Name: "memory", Total: 3 << 50}, {Name: "gpu", Total: 100_000_000, Unit: 1000},
	}}
	add := func(name, parent string, n int, run, all int64) {
		weight := float64(1 + n%4)
		t.Queues = append(t.Queues, Queue{Name: name, Parent: parent, Priority: int64(n % 2), Claims: []Claim{
			{Resource: "cpu", Quota: quota.Unlimited, OverQuotaWeight: 1, Request: 8000 * all, Usage: 8000 * run},
			{Resource: "memory", Quota: int64(n%3) << 40, OverQuotaWeight: weight / 10, Request: all << 34, Usage: run << 34},
			{Resource: "gpu", Quota: int64(n%5) * 10_000, OverQuotaWeight: weight, Request: 1000 * all, Usage: 1000 * run},
		}})
	}
	for i := range 10 {
		top := fmt.Sprintf("division-%d", i)
		add(top, "", i, 0, 0)
		for j := range 9 {
			middle := fmt.Sprintf("%s-department-%d", top, j)
			add(middle, top, j, 0, 0)
			for k := range 10 {
				n := 90*i + 10*j + k
				run := int64(61 + n*37%100)
				add(fmt.Sprintf("%s-team-%d", middle, k), middle, n, run, run*6/5)
			}
		}
	}
	return t
}

func BenchmarkDivide(b *testing.B) {
	t := thousand()
	list, err := Divide(t)
	running := int64(0)
	for _, of := range list {
		if len(of.Queue) == len("division-0") {
			running += of.Shares[2].Usage / 1000
		}
	}
	if err != nil || len(list) != 1000 || running < 99_000 || running > 101_000 {
		b.Fatalf("%d queues with %d pods, %v", len(list), running, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Divide(t); err != nil {
			b.Fatal(err)
		}
	}
}
