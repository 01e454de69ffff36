package fairshare

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cedesched/cede/quota"
)

// drawEdit draws what some queues of a tree become: a little that changes, all, or nothing.
func drawEdit(t *rapid.T, tree Tree) (queues []Queue) {
	for range rapid.IntRange(1, 3).Draw(t, "edited") {
		q := tree.Queues[rapid.IntRange(0, len(tree.Queues)-1).Draw(t, "edits")].clone()
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			q.Priority = among[int64](t, "priority", 0, 1, 2)
		case 1:
			q.CreatedAt = time.Unix(among[int64](t, "created", 0, 60, 120), 0)
		case 2:
			q.Claims = nil
			for _, r := range tree.Resources {
				q.Claims = append(q.Claims, drawClaim(t, r, 20, true))
			}
		default:
			for i := range q.Claims {
				c := &q.Claims[i]
				r := tree.Resources[slices.IndexFunc(tree.Resources, func(r Resource) bool { return r.Name == c.Resource })]
				switch rapid.IntRange(0, 3).Draw(t, "of claim") {
				case 0:
					c.Request = drawAmount(t, "request", r, 20)
				case 1:
					c.Usage, c.NonPreemptible = drawAmount(t, "usage", r, 20), 0
				case 2:
					c.OverQuotaWeight = among(t, "weight", 0, 1, 2, 0.1, 1e22)
				}
			}
		}
		queues = append(queues, q)
	}
	return queues
}

// Shares kept by edits are those of the tree divided anew; what changed is told, and what was before stays.
func TestKeptSharesAreThoseDividedAnew(t *testing.T) {
	alone := 0
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t)
		d, err := NewDivision(tree)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(t, "edits in turn") {
			queues := drawEdit(t, tree)
			before := d.Shares()
			next, moved, err := d.With(queues...)
			if err != nil {
				t.Fatal(err)
			}
			tree = tree.Clone()
			replaced := map[string]bool{}
			for _, q := range queues {
				at := slices.IndexFunc(tree.Queues, func(of Queue) bool { return of.Name == q.Name })
				tree.Queues[at], replaced[q.Name] = q, true
			}
			want := must(t, tree)
			if diff := cmp.Diff(want, next.Shares()); diff != "" {
				t.Fatalf("%s with %+v: - anew, + kept:\n%s", text(d.Tree()), queues, diff)
			}
			if !reflect.DeepEqual(next.Tree(), tree) {
				t.Fatalf("%s", text(next.Tree()))
			}
			changed := slices.DeleteFunc(want, func(of QueueShares) bool {
				at := slices.IndexFunc(before, func(b QueueShares) bool { return b.Queue == of.Queue })
				return !replaced[of.Queue] && slices.Equal(of.Shares, before[at].Shares)
			})
			if diff := cmp.Diff(changed, moved); diff != "" {
				t.Fatalf("%s with %+v: - changed, + told:\n%s", text(d.Tree()), queues, diff)
			}
			if len(moved) < len(want) {
				alone++
			}
			if !reflect.DeepEqual(d.Shares(), before) {
				t.Fatal("an edit changed what it started from")
			}
			d = next
		}
	})
	if alone == 0 {
		t.Error("every edit changed all shares")
	}
}

// The surplus of three goes to the queue that an edit gives a higher priority, or the last unit of it to the one that it makes older.
func TestEditsThatLeaveTheClaims(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tree := gpuTree(3, 1, gpuQueue("a", "", gpu(0, 1, 3)), gpuQueue("b", "", gpu(0, 1, 3)))
	tree.Queues[0].CreatedAt, tree.Queues[1].CreatedAt = noon, noon
	d, err := NewDivision(tree)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[int64]func(*Queue){3: func(q *Queue) { q.Priority = 1 }, 2: func(q *Queue) { q.CreatedAt = noon.Add(-1) }} {
		q := tree.Queues[1].clone()
		change(&q)
		next, _, err := d.With(q)
		if err != nil || next.Shares()[1].Shares[0].FairShare != want {
			t.Errorf("%+v: %v, %v, want %d", q, next.Shares(), err, want)
		}
	}
}

func TestEditFails(t *testing.T) {
	d, err := NewDivision(Tree{Resources: []Resource{{Name: "gpu", Total: 8}}, Queues: []Queue{{Name: "a"}, {Name: "b", Parent: "a"}}})
	if err != nil {
		t.Fatal(err)
	}
	before := d.Shares()
	same, moved, err := d.With(Queue{Name: "c"}, Queue{Name: "b", Claims: []Claim{{Resource: "gpu", Quota: -2}, {Resource: "cpu"}}})
	if err == nil || same != d || moved != nil || !reflect.DeepEqual(before, d.Shares()) {
		t.Fatal(moved, err)
	}
	for _, want := range []string{`queues[0].name: no queue "c"`, `queues[1].parent: "" is not the parent of queue "b"`, `queues[1].claims[0].quota: -2`, `queues[1].claims[1].resource: unknown`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwithout %s", err, want)
		}
	}
}

// An edit costs what it changes: of a thousand queues those from the queue up, and those beside them.
func TestEditAllocatesItsWay(t *testing.T) {
	tree := thousand()
	d, err := NewDivision(tree)
	if err != nil {
		t.Fatal(err)
	}
	q := tree.Queues[slices.IndexFunc(tree.Queues, func(q Queue) bool { return strings.HasSuffix(q.Name, "department-4-team-3") })].clone()
	q.Claims[2].Request += 1000
	_, moved, err := d.With(q)
	if err != nil || len(moved) > 30 {
		t.Errorf("%d shares moved, %v", len(moved), err)
	}
	if n := testing.AllocsPerRun(10, func() { _, _, _ = d.With(q) }); n > 60 {
		t.Errorf("%v allocations", n)
	}
	q.Claims[0].Quota = quota.Unlimited // as before
	if _, same, _ := d.With(tree.Queues[3]); len(same) != 1 {
		t.Errorf("%d shares moved", len(same))
	}
}

func BenchmarkWith(b *testing.B) {
	tree := thousand()
	d, err := NewDivision(tree)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	moved := 0
	for i := 0; b.Loop(); i++ {
		q := &tree.Queues[len(tree.Queues)-1-i*37%500]
		q.Claims[2].Request += 1000
		next, list, err := d.With(*q)
		if err != nil {
			b.Fatal(err)
		}
		d, moved = next, moved+len(list)
	}
	b.ReportMetric(float64(moved)/float64(b.N), "moved/op")
}
