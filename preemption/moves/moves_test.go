package moves_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/workload"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// cluster makes a state of words: "a=4" is a node with four GPUs, "a:v=2" a pod on it that takes two; "v!" has priority 5, "v/g" is of
// the group g, "v@" cannot be moved, "v+" started last.
func cluster(words string) (st placement.State) {
	groups := map[string]bool{}
	for i, word := range strings.Fields(words) {
		name, amount, _ := strings.Cut(word, "=")
		var gpus int64
		fmt.Sscan(amount, &gpus)
		requests := workload.Resources{"gpu": gpus}
		node, pod, isPod := strings.Cut(name, ":")
		if !isPod {
			st.Nodes = append(st.Nodes, workload.Node{Name: name, Capacity: requests})
			continue
		}
		p := workload.Pod{Node: node, Requests: requests, Started: now.Add(-time.Hour + time.Duration(i)*time.Minute), Namespace: "ns"}
		p.Nowhere = strings.Contains(pod, "@")
		if strings.Contains(pod, "!") {
			p.Priority = 5
		}
		pod = strings.NewReplacer("@", "", "!", "").Replace(pod)
		p.ID, p.Group, _ = strings.Cut(pod, "/")
		p.Labels = map[string]string{"app": p.ID}
		if p.Group != "" && !groups[p.Group] {
			groups[p.Group] = true
			st.Groups = append(st.Groups, workload.PodGroup{ID: p.Group, DisruptionMode: workload.DisruptionModePodGroup})
		}
		st.Pods = append(st.Pods, p)
	}
	return st
}

func snapshot(t rapid.TB, st placement.State) *placement.Snapshot {
	t.Helper()
	return must(placement.NewSnapshot(st))(t)
}

// pending is a pod that waits for so many GPUs.
func pending(priority int32, gpus int64) placement.Request {
	return placement.Request{Priority: priority, Now: now, Pods: []workload.Pod{{ID: "new", Requests: workload.Resources{"gpu": gpus}}}}
}

// on is a request for a node.
func on(r placement.Request, node string) placement.Request {
	r.Pods[0].Nodes = []string{node}
	return r
}

// mustMove is a price: no unit may yield.
func mustMove(placement.Unit) (yield, move int64) { return -1, 0 }

func told(d moves.Decision) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v", d.Decision.Outcome)
	for _, n := range d.Decision.Nominations {
		fmt.Fprintf(&b, " %s->%s", n.Pod, n.Node)
	}
	tellMoves(&b, d.Moves)
	moved := map[string]bool{}
	for _, m := range d.Moves {
		moved[m.Pods[0].Pod] = true
	}
	for _, v := range d.Decision.Victims {
		if !moved[v.Pods[0]] {
			fmt.Fprintf(&b, " yields:%s", strings.Join(v.Pods, "+"))
		}
	}
	tellSteps(&b, d.Steps)
	return b.String()
}

func tellMoves(b *strings.Builder, list []moves.Move) {
	for _, m := range list {
		for _, p := range m.Pods {
			fmt.Fprintf(b, " %s:%s->%s", p.Pod, p.From, p.To)
		}
	}
}

func tellSteps(b *strings.Builder, steps []moves.Step) {
	for _, s := range steps {
		b.WriteString(" |")
		if len(s.Stop) > 0 {
			fmt.Fprintf(b, " -%s", strings.Join(s.Stop, ","))
		}
		for _, n := range s.Start {
			fmt.Fprintf(b, " +%s", n.Pod)
		}
	}
}

func TestDecide(t *testing.T) {
	for name, c := range map[string]struct {
		state   string
		request placement.Request
		config  moves.Config
		want    string
	}{
		"a victim with room elsewhere moves": {
			state: "a=4 b=4 a:v=2 b:w!=2", request: pending(1, 4),
			want: "Preempt new->a v:a->b | -v +new +v",
		},
		"a victim without room yields": {
			state: "a=4 b=4 a:v=3 b:w!=2", request: pending(1, 4),
			want: "Preempt new->a yields:v | -v +new",
		},
		"a pod that cannot be moved yields": {
			state: "a=4 b=4 a:v@=2 b:w!=2", request: pending(1, 4),
			want: "Preempt new->a yields:v | -v +new",
		},
		"a group moves whole": {
			state: "a=4 b=4 c=4 a:v/g=2 a:u/g=2 b:w!=2 c:x!=2", request: pending(1, 4),
			want: "Preempt new->a u:a->b v:a->c | -u,v +new +u +v",
		},
		"or not at all": {
			state: "a=4 b=4 a:v/g=2 a:u/g=2 b:w!=2", request: pending(1, 4),
			want: "Preempt new->a yields:u+v | -u,v +new",
		},
		"where none may yield, no": {
			state: "a=4 b=4 a:v=3 b:w=3", request: pending(1, 4), config: moves.Config{Price: mustMove},
			want: "Impossible",
		},
		"where none may yield, other domains are looked at": {
			state: "a=4 b=4 c=4 a:v=3 b:w=2 c:x=2", request: pending(1, 4), config: moves.Config{Price: mustMove},
			want: "Preempt new->c x:c->b | -x +new +x",
		},
		"a pod in the way of another yields": {
			state: "a=4 b=4 c=4 a:v=3 b:w=2 c:x!=2", request: on(pending(1, 4), "a"),
			want: "Preempt new->a yields:v | -v +new",
		},
		"before it stops a pod needs room beside itself": {
			state: "a=4 b=4 a:v=2 b:w!=2", request: pending(1, 4), config: moves.Config{Start: moves.BeforeStop},
			want: "Preempt new->a v:a->b | -v +v | +new",
		},
		"the younger yields": {
			state: "a=4 b=2 a:v@=2 a:w=2 b:x!=0", request: pending(1, 2), config: moves.Config{},
			want: "Fits new->b",
		},
		"Prefer keeps what cannot move": {
			state: "a=4 b=2 c=3 a:w=2 a:v@=2 b:y!=1 c:x!=1", request: pending(1, 3), config: moves.Config{Prefer: true},
			want: "Preempt new->a w:a->c yields:v | -v,w +new +w",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := must(moves.Decide(nil, snapshot(t, cluster(c.state)), c.request, c.config))(t)
			if got := told(d); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// A pod moves into the last place of a node, and where more is used than is there of what it does not ask for.
func TestMovesFillANode(t *testing.T) {
	st := cluster("a=4 b=4 a:v=2 a:u=2 b:w!=0")
	st.Nodes[1].Capacity["cpu"], st.Nodes[1].Capacity[workload.PodsResource] = 1, 3
	st.Pods[0].Requests["cpu"], st.Pods[2].Requests["cpu"] = 0, 2
	d := must(moves.Decide(nil, snapshot(t, st), on(pending(1, 4), "a"), moves.Config{}))(t)
	if got, want := told(d), "Preempt new->a u:a->b v:a->b | -u,v +new +u +v"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// While a move waits for the room of another one, as many pods of the request start as have room.
func TestPodsStartWhereThereIsRoom(t *testing.T) {
	r := placement.Request{Group: "g", Priority: 1, MinCount: 3, Now: now}
	for i, node := range []string{"a", "a", "b"} {
		r.Pods = append(r.Pods, workload.Pod{ID: fmt.Sprint("new-", i), Nodes: []string{node}, Requests: workload.Resources{"gpu": 2}})
	}
	d := must(moves.Decide(nil, snapshot(t, cluster("a=4 b=4 c=6 a:u=2 a:v=2 b:w=4")), r, moves.Config{}))(t)
	if got, want := told(d), "Preempt new-0->a new-1->a new-2->b u:a->b v:a->c w:b->c | -v,w +new-0 +new-2 +v +w | -u +new-1 +u"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Two moves that need each other's room stop and start in one step.
func TestMovesExchangePlaces(t *testing.T) {
	st := cluster("a=1 b=1 a:v=1 b:w=1")
	for i, of := range []workload.Resources{{"cpu": 2, "memory": 1}, {"cpu": 1, "memory": 2}} {
		for resource, n := range of {
			st.Nodes[i].Capacity[resource], st.Pods[i].Requests[resource] = 2, n
		}
	}
	r := placement.Request{Group: "g", Priority: 1, MinCount: 2, Now: now}
	r.Pods = []workload.Pod{{ID: "new-0", Nodes: []string{"a"}, Requests: workload.Resources{"cpu": 1}}, {ID: "new-1", Nodes: []string{"b"}, Requests: workload.Resources{"memory": 1}}}
	d := must(moves.Decide(nil, snapshot(t, st), r, moves.Config{}))(t)
	if got, want := told(d), "Preempt new-0->a new-1->b v:a->b w:b->a | -v,w +new-0 +new-1 +v +w"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A nomination of the request's own pod ends with the answer: what moves may use that room.
func TestOwnNominationEnds(t *testing.T) {
	st := cluster("a=2 b=2 a:v=2")
	r := on(pending(10, 2), "a")
	st.Nominated = []workload.Pod{{ID: "new", Node: "b", Priority: 10, Requests: workload.Resources{"gpu": 2}}}
	d, err := moves.Decide(nil, snapshot(t, st), r, moves.Config{})
	if got, want := told(d), "Preempt new->a v:a->b | -v +new +v"; err != nil || got != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}

// Everything that is wrong with a question is in one error.
func TestBadInput(t *testing.T) {
	s := snapshot(t, cluster("a=4 a:v=2"))
	bad := moves.Config{Start: 7, MaxTries: -2}
	config := []string{"config.Start: Start(7) is unknown", "config.MaxTries: -2 is negative"}
	if _, err := moves.Decide(nil, s, pending(1, 1), bad); err == nil || err.Error() != strings.Join(config, "; ") {
		t.Error(err)
	}
	r := moves.ClearRequest{Count: -1, Domains: []placement.Domain{{Nodes: []string{"a", "z"}}, {Name: "x", Nodes: []string{"a"}}, {Name: "x"}}}
	request := []string{
		"request.count: -1 is negative", "request.domains[0].name: is empty", `request.domains[0].nodes[1]: unknown node "z"`,
		`request.domains[1].nodes[0]: node "a" is in request.domains[0] already`, `request.domains[2].name: "x" is that of request.domains[1]`,
	}
	if _, err := moves.Clear(nil, s, r, bad); err == nil || err.Error() != strings.Join(append(config, request...), "; ") {
		t.Error(err)
	}
}
