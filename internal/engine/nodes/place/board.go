package place

import (
	"slices"

	"github.com/cedesched/cede/internal/engine/nodes/ask"
	"github.com/cedesched/cede/internal/engine/nodes/room"
	"github.com/cedesched/cede/internal/engine/nodes/state"
	"github.com/cedesched/cede/workload"
)

// Board has the members of a request and the nodes where they are placed.
type Board struct {
	room.Room
	Members []Member
	AtLeast int     // the least number of members that must have a place
	Where   []int32 // by member: its node; -1: none
	Used    []int32 // nodes with members

	isWide bool    // an answer for a node may depend on pods of other nodes
	tree   *tree   // nil: no group of the request has needs of its own
	all    []int32 // the numbers from zero on
	count  []int32 // members by node
	asked  []bool  // by node and slot: a member there needs some
	order  []int32 // members with a place, in the order in which they were placed
	left   []uint64
	needs  []int64 // by slot: of a member with its claims
	trials *trials
	own    trials // of this board
}

// Begin prepares the board for a request.
func (b *Board) Begin(config *ask.Config, c *state.Cluster, r *ask.Request) {
	b.Room.Begin(config, c, r)
	b.isWide = r.Rules.AreWide()
	b.trials = &b.own
	b.addMembers()
	b.addTree()
	b.addClaims()
	b.Where = room.Resize(b.Where, len(b.Members))
	b.count, b.asked = room.Resize(b.count, len(b.Nodes)), room.Resize(b.asked, len(b.Nodes)*b.Width())
	clear(b.count)
	clear(b.asked)
	b.Used, b.order, b.trials.stale = b.Used[:0], b.order[:0], true
}

// End drops the references to the cluster and the request.
func (b *Board) End() {
	clear(b.Members)
	b.tree = nil
	b.trials, b.own = nil, trials{}
	b.Room.End()
}

// ShareTrials makes the board go on with the trials of another board about the same pods, which must not be used
// meanwhile: a rule about sets begins once for a decision.
func (b *Board) ShareTrials(of *Board) {
	b.trials = of.trials
	b.trials.stale = true
}

// Open starts a placement, with the units up to a floor gone. If now is set, terminating pods count.
func (b *Board) Open(floor int64, now bool) {
	b.Room.Open(floor, now)
	b.clear()
}

// clear removes all members; what is free is left as it is.
func (b *Board) clear() {
	width := b.Width()
	for _, i := range b.Used {
		b.count[i] = 0
		clear(b.asked[int(i)*width:][:width])
	}
	b.dropClaims()
	b.Used, b.order, b.trials.stale = b.Used[:0], b.order[:0], true
	for m := range b.Where {
		b.Where[m] = -1
	}
}

// Put places a member on a node.
func (b *Board) Put(m int, node int32) {
	b.Where[m] = node
	b.order = append(b.order, int32(m))
	if b.count[node]++; b.count[node] == 1 {
		b.Used = append(b.Used, node)
	}
	free, asked := b.FreeOn(int(node)), b.asked[int(node)*b.Width():]
	for slot, need := range b.Members[m].Needs {
		if need > 0 {
			free[slot] -= need
			asked[slot] = true
		}
	}
	if len(b.Members[m].claims) > 0 {
		b.putClaims(&b.Members[m], int(node))
	}
}

// Placed lists the members with a place, in the order in which they were placed. The list is valid until the next
// placement.
func (b *Board) Placed() []int32 { return b.order }

// Touches reports whether the unit shares a node of the domain with a placed member.
func (b *Board) Touches(d room.Domain, u *state.Unit) bool {
	for _, p := range u.Pods {
		if i := b.Of(p); d.Has(i) && b.count[i] > 0 {
			return true
		}
	}
	return false
}

// MayTouch is Touches if each unit only matters for members on its nodes; else it is true.
func (b *Board) MayTouch(d room.Domain, u *state.Unit) bool { return b.isWide || b.Touches(d, u) }

// IsWide reports whether a unit may matter for members on other nodes.
func (b *Board) IsWide() bool { return b.isWide }

// addMembers lists the members.
func (b *Board) addMembers() {
	r := b.Request
	b.Members = b.Members[:0]
	for i := range r.Pods {
		p := &r.Pods[i]
		m := Member{Facts: r.Shown(i), Needs: b.Needs(p.Requests), Promise: -1}
		if i > 0 && p.Nowhere == r.Pods[i-1].Nowhere && slices.Equal(p.Nodes, r.Pods[i-1].Nodes) {
			m.allowed = b.Members[i-1].allowed
		} else {
			m.allowed = allowed(b.Cluster, p)
		}
		if i > 0 && !r.Rules.DecidePlaces() {
			last := &b.Members[i-1]
			m.Same = len(m.Facts.Claims)+len(last.Facts.Claims) == 0 &&
				slices.Equal(m.Needs, last.Needs) && m.NamesAll() == last.NamesAll() && slices.Equal(m.allowed, last.allowed)
		}
		if promised := b.Cluster.PromisedPod(p.ID); promised != nil {
			m.Promise = promised.Node
		}
		b.Members = append(b.Members, m)
	}
}

// trials holds the trials of a decision and what they were told. They are told as late as possible: most domains are
// left without a question.
type trials struct {
	list   []ask.Trial
	placer ask.PlacerTrial
	begun  bool
	stale  bool                   // a placement was opened since the trials were told
	shown  map[int32]workload.Pod // members that were added, as they were added
	away   []*state.Pod           // running pods that were removed
	isAway map[*state.Pod]bool    // the same
	// leaving holds terminating pods that are waited for, of all nodes.
	leaving []*state.Pod
}
