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
// 0 to 1: all have one scale, or the queues of a cohort have one, and each cohort its own.
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
	Folds      bool    `json:"folds,omitempty"`  // there are nodes below it
	Folded     bool    `json:"folded,omitempty"` // and they are not listed
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
}

// Part says which nodes are listed.
type Part struct {
	Filter string   // a text in their names
	Root   string   // of their tree; empty: any
	Folded []string // cohorts: what is below them is not listed, but where names are looked for
}

// maxBlocks is the most blocks in a row: more are thinner than a pixel.
const maxBlocks = 400

// Rows returns rows from one number up to another: as they are, or after the decision about the selected workload.
// With own, the queues of each cohort have a scale of their own, and each cohort too.
func (m *Model) Rows(column quota.FlavorResource, after, own bool, of Part, from, to int) Rows {
	v := m.ensure()
	s := m.now.Snapshot
	if after && v.after != nil {
		s = v.after
	}
	list := m.listed(of)
	out := Rows{Total: len(list), Rows: []Row{}}
	for i := max(0, from); i < min(to, len(list)); i++ {
		n := m.nodes[list[i]]
		r := m.row(s, n, column, m.scale(column, n, own), own, after && v.after != nil)
		r.Index = i
		r.Folds = n.Cohort && list[i]+1 < len(m.nodes) && m.nodes[list[i]+1].Depth > n.Depth
		r.Folded = r.Folds && of.Filter == "" && slices.Contains(of.Folded, n.Name)
		out.Rows = append(out.Rows, r)
	}
	out.Kinds = m.kinds(s, column, after && v.after != nil)
	return out
}

// listed returns the numbers of the nodes of a part, those above first.
func (m *Model) listed(of Part) []int {
	v := m.ensure()
	key := strings.Join(append([]string{of.Filter, of.Root}, of.Folded...), "\x00")
	if v.filter != nil && v.filterKey == key {
		return v.filter
	}
	v.filterKey, v.filter = key, []int{}
	filter, below := strings.ToLower(of.Filter), -1 // the depth of a folded cohort that the node is in
	for i, n := range m.nodes {
		if below >= 0 && n.Depth > below {
			continue
		}
		if below = -1; filter == "" && n.Cohort && slices.Contains(of.Folded, n.Name) {
			below = n.Depth
		}
		if strings.Contains(strings.ToLower(n.Name), filter) && (of.Root == "" || n.Root == of.Root) {
			v.filter = append(v.filter, i)
		}
	}
	return v.filter
}

// scale is what the width of the drawing stands for: that of all nodes; with own, of the queues of the node's cohort.
func (m *Model) scale(column quota.FlavorResource, of answers.Node, own bool) float64 {
	v, key := m.ensure(), scaleKey{column, own}
	scales := v.scales[key]
	if scales == nil {
		scales = map[string]float64{}
		for _, n := range m.nodes {
			if r, ok := statusOf(m.now.Snapshot, n, column); ok && !(n.Cohort && own) {
				most := max(finite(quotaOf(n, &r)), finite(r.Usage))
				if own {
					most *= 1.25 // some room is seen beyond the largest queue
				}
				scales[scaleOf(n, own)] = max(scales[scaleOf(n, own)], most)
			}
		}
		v.scales[key] = scales
	}
	return scales[scaleOf(of, own)]
}

// scaleOf names the scale of a node: the cohort above it, or one for all.
func scaleOf(n answers.Node, own bool) string {
	if own {
		return n.Parent
	}
	return ""
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
