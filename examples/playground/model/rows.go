package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/units"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Row is a queue or cohort as it is drawn. Lengths are shares of the width of the drawing, from
// 0 to 1: all have one scale, or queues have one and each cohort its own.
type Row struct {
	Index  int    `json:"index"`
	Cohort bool   `json:"cohort"`
	Name   string `json:"name"`
	Depth  int    `json:"depth"`
	Node   string `json:"node"` // as explanations name it
	// Words says the numbers, for a reader who does not see the drawing. The other texts are
	// those numbers.
	Words    string `json:"words"`
	Used     string `json:"used"`
	Nominal  string `json:"nominal"`
	Borrowed string `json:"borrowed,omitempty"`
	Lent     string `json:"lent,omitempty"`
	Room     string `json:"room,omitempty"`
	Reserved string `json:"reserved,omitempty"`
	Over     string `json:"over,omitempty"` // how much more is used than it may use
	// The ends of the parts of the bar.
	NominalTo  float64 `json:"nominalTo"`
	UsedTo     float64 `json:"usedTo"`
	ReservedTo float64 `json:"reservedTo,omitempty"`
	LentFrom   float64 `json:"lentFrom,omitempty"` // to NominalTo
	RoomTo     float64 `json:"roomTo,omitempty"`   // from UsedTo; over 1: it goes on
	Blocks     []Block `json:"blocks,omitempty"`
	More       int     `json:"more,omitempty"`  // workloads that are not drawn
	Short      bool    `json:"short,omitempty"` // the request that is shown is short here
	Asks       bool    `json:"asks,omitempty"`  // the queue of that request
	Inactive   bool    `json:"inactive,omitempty"`
	Edited     bool    `json:"edited,omitempty"`
}

// Block is a workload that runs, as it is drawn.
type Block struct {
	ID     string  `json:"id"`
	From   float64 `json:"from"`
	To     float64 `json:"to"`
	Colour int     `json:"colour"`
	// Mark is victim (it yields), gone (it yielded), new (it was admitted), leaving (it was told
	// to stop before), or empty.
	Mark string `json:"mark,omitempty"`
	// Leaves: it has to leave if usage is to be within what is allowed. Not set after the decision.
	Leaves bool   `json:"leaves,omitempty"`
	Text   string `json:"text"`
}

// Rows is a part of the tree.
type Rows struct {
	Total int   `json:"total"`
	Rows  []Row `json:"rows"`
	// Kinds are the kinds of bars and blocks in all of the tree, as the legend names them.
	Kinds []string `json:"kinds"`
	// Small: on one scale the bars of all queues are too short to tell their parts.
	Small bool `json:"small,omitempty"`
}

// maxBlocks is the most blocks in a row: more are thinner than a pixel.
const maxBlocks = 400

// Rows returns rows from one number up to another, of the nodes with the text in their names:
// as they are, or after the decision about the selected workload. With own each cohort has a scale of its own.
func (m *Model) Rows(column quota.FlavorResource, after, own bool, filter string, only string, from, to int) Rows {
	v := m.ensure()
	s := m.now.Snapshot
	if after && v.after != nil {
		s = v.after
	}
	list := m.filtered(filter, only)
	out := Rows{Total: len(list), Rows: []Row{}}
	scale := m.scale(column, own)
	for i := max(0, from); i < min(to, len(list)); i++ {
		r := m.row(s, m.nodes[list[i]], column, scale, own, after && v.after != nil)
		r.Index = i
		out.Rows = append(out.Rows, r)
	}
	const parts = 12
	out.Small = m.scale(column, false) > parts*m.scale(column, true)
	out.Kinds = m.kinds(s, column, after && v.after != nil)
	return out
}

// filtered returns the numbers of the nodes with a text in their names, in the tree with a
// certain root; empty: all.
func (m *Model) filtered(filter, root string) []int {
	v := m.ensure()
	if key := filter + "\x00" + root; v.filter == nil || v.filterKey != key {
		v.filterKey, v.filter = key, []int{}
		filter = strings.ToLower(filter)
		for i, n := range m.nodes {
			if strings.Contains(strings.ToLower(n.Name), filter) && (root == "" || n.Root == root) {
				v.filter = append(v.filter, i)
			}
		}
	}
	return v.filter
}

// scale is what the width of the drawing stands for: of all nodes, or of queues where cohorts have their own.
func (m *Model) scale(column quota.FlavorResource, own bool) float64 {
	v := m.ensure()
	key := scaleKey{column, own}
	if s, ok := v.scales[key]; ok {
		return s
	}
	most := 0.0
	for _, n := range m.nodes {
		if n.Cohort && own {
			continue
		}
		if r, ok := statusOf(m.now.Snapshot, n, column); ok {
			most = max(most, finite(quotaOf(n, &r)), finite(r.Usage))
		}
	}
	if own {
		most *= 1.25 // some room is seen beyond the largest queue
	}
	v.scales[key] = most
	return most
}

// scaleKey is what a scale is for.
type scaleKey struct {
	column quota.FlavorResource
	own    bool
}

// quotaOf is the quota that a bar shows: of a cohort, with what its members lend.
func quotaOf(n answers.Node, r *preemption.QuotaStatus) int64 {
	if n.Cohort {
		return r.SubtreeQuota
	}
	return r.Nominal
}

// finite is an amount to draw: one without bound has no length.
func finite(amount int64) float64 {
	if amount == quota.Unlimited || amount < 0 {
		return 0
	}
	return float64(amount)
}

func statusOf(s *preemption.Snapshot, n answers.Node, column quota.FlavorResource) (r preemption.QuotaStatus, ok bool) {
	var rows []preemption.QuotaStatus
	if n.Cohort {
		rows, _ = s.CohortStatus(n.Name, column)
	} else {
		rows, _ = s.QueueStatus(n.Name, column)
	}
	i := slices.IndexFunc(rows, func(r preemption.QuotaStatus) bool { return r.FlavorResource == column })
	if i < 0 {
		return r, false
	}
	return rows[i], true
}

func (m *Model) row(s *preemption.Snapshot, n answers.Node, column quota.FlavorResource, scale float64, ownScale, after bool) Row {
	v := m.ensure()
	st, _ := statusOf(s, n, column)
	own := quotaOf(n, &st)
	if n.Cohort && ownScale {
		scale = max(finite(own), finite(st.Usage))
	}
	part := func(amount float64) float64 {
		if scale == 0 {
			return 0
		}
		return amount / scale
	}
	r := Row{Cohort: n.Cohort, Name: n.Name, Depth: n.Depth, Node: n.String(), NominalTo: part(finite(own)), UsedTo: part(finite(st.Usage))}
	if own == quota.Unlimited {
		r.NominalTo = 1
	}
	var reserved int64
	r.Inactive, reserved = settingsOf(s, n, column)
	r.ReservedTo = part(min(finite(reserved), finite(st.Usage)))
	if st.Lent > 0 {
		r.LentFrom = max(r.UsedTo, r.NominalTo-part(finite(st.Lent)))
	}
	if st.Available > 0 {
		if r.RoomTo = r.UsedTo + part(finite(st.Available)); st.Available == quota.Unlimited {
			r.RoomTo = 2
		}
	}
	r.texts(column, own, reserved, &st)
	r.Short = v.short[n]
	r.Asks = !n.Cohort && m.doc.Selected != "" && n.Name == v.queue
	r.Edited = slices.ContainsFunc(m.doc.Edits, func(e Edit) bool {
		return e.Node == n.Name && e.Cohort == n.Cohort && (e.Kind == "quota" || e.Kind == "policy")
	})
	if !n.Cohort {
		m.blocks(&r, n.Name, column, scale, after)
	}
	return r
}

// settingsOf returns whether a queue is inactive, and what is reserved of a node's quota.
func settingsOf(s *preemption.Snapshot, n answers.Node, column quota.FlavorResource) (inactive bool, reserved int64) {
	var list []quota.Amount
	if n.Cohort {
		c, _ := s.Cohort(n.Name)
		list = c.Reserved
	} else {
		q, _ := s.Queue(n.Name)
		list, inactive = q.Reserved, q.Inactive
	}
	for _, a := range list {
		if a.FlavorResource() == column {
			reserved = a.Amount
		}
	}
	return inactive, reserved
}

func (r *Row) texts(column quota.FlavorResource, own, reserved int64, st *preemption.QuotaStatus) {
	text := func(n int64) string { return units.Amount(column.Resource, n) }
	some := func(n int64) string {
		if n <= 0 {
			return ""
		}
		return text(n)
	}
	r.Used, r.Nominal = text(st.Usage), text(own)
	r.Borrowed, r.Lent, r.Room, r.Reserved = some(st.Borrowed), some(st.Lent), some(st.Available), some(reserved)
	kind := "queue"
	if r.Cohort {
		kind = "cohort"
		r.Borrowed = some(st.Usage - st.SubtreeQuota)
	}
	parts := []string{fmt.Sprintf("%s %s uses %s of %s", kind, r.Name, r.Used, r.Nominal)}
	for _, p := range [...]struct{ text, words string }{
		{r.Reserved, "reserved %s"}, {r.Borrowed, "borrows %s"}, {r.Lent, "lends %s"}, {r.Room, "has room for %s"},
	} {
		if p.text != "" {
			parts = append(parts, fmt.Sprintf(p.words, p.text))
		}
	}
	switch {
	case st.Over > 0:
		r.Over = text(st.Over)
		parts = append(parts, "is "+r.Over+" over what is allowed")
	case st.Available <= 0:
		parts = append(parts, "has no room")
	}
	r.Words = strings.Join(parts, ", ")
}

// blocks draws who runs in a queue.
func (m *Model) blocks(r *Row, name string, column quota.FlavorResource, scale float64, after bool) {
	v, leaves := m.ensure(), m.now.settle().leaves
	end := r.ReservedTo
	var gone []Block
	add := func(w *workload.Workload, mark string) {
		amount := finite(usageOf(w, column))
		if amount == 0 || scale == 0 {
			return
		}
		if len(r.Blocks) >= maxBlocks {
			r.More++
			return
		}
		b := Block{ID: w.ID, From: end, To: end + amount/scale, Colour: m.colourOf(w.EffectivePriority()), Mark: mark, Leaves: !after && leaves[w.ID],
			Text: fmt.Sprintf("%s, priority %d, %s", w.ID, w.EffectivePriority(), units.Amount(column.Resource, usageOf(w, column)))}
		if mark == "gone" {
			gone = append(gone, b)
			return
		}
		end = b.To
		r.Blocks = append(r.Blocks, b)
	}
	for _, w := range m.now.runningIn(name, m) {
		mark := ""
		switch victim, yields := v.victims[w.ID]; {
		case yields && after && len(victim.Replicas) == 0:
			mark = "gone"
		case yields && after:
			if left, ok := v.after.Find(w.ID); ok {
				w = &left
			}
			mark = "victim"
		case yields:
			mark = "victim"
		case w.Evicted:
			mark = "leaving"
		}
		add(w, mark)
	}
	if after && v.admitted != nil && v.admitted.Queue == name {
		add(v.admitted, "new")
	}
	for _, b := range gone {
		b.From, b.To = end, end+b.To-b.From
		end = b.To
		r.Blocks = append(r.Blocks, b)
	}
}

// usageOf is what a workload takes of a column.
func usageOf(w *workload.Workload, column quota.FlavorResource) (sum int64) {
	for i := range w.PodSets {
		for _, a := range w.PodSets[i].Requests {
			if a.FlavorResource() == column {
				sum = quota.Add(sum, w.PodSets[i].Total(a.Amount))
			}
		}
	}
	return sum
}

// runningIn returns who runs in a queue, as they are drawn.
func (s *side) runningIn(queue string, m *Model) []*workload.Workload {
	if m.running == nil {
		m.running = map[string][]*workload.Workload{}
		for w := range m.origin.Snapshot.Workloads() {
			m.running[w.Queue] = append(m.running[w.Queue], &w)
		}
		for _, list := range m.running {
			slices.SortFunc(list, compareRunning)
		}
	}
	list := m.running[queue]
	if len(s.changed) == 0 {
		return list
	}
	list = slices.Clone(list)
	for i, w := range list {
		if changed, ok := s.changed[w.ID]; ok {
			list[i] = &changed
		}
	}
	slices.SortFunc(list, compareRunning)
	return list
}
