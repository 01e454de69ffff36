package safe

import (
	"cmp"
	"slices"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// Asker answers for the workloads of one snapshot, one at a time. Make it with [New].
type Asker struct {
	options  Options
	decider  *preemption.Preemptor
	bare     *preemption.Preemptor // without guards that may read the request
	snapshot *preemption.Snapshot
	queues   []*asking // by name, active ones
	where    places
	byTree   map[string][]*asking // by name
	read     map[string]bool      // trees
	cleared  *preemption.Snapshot // without what was told to leave
	numbers  map[string]int       // of names
	donors   map[string]*donor    // by queue
	leaves   bool                 // something was told to leave
	doubts   []Doubt
	shares   []fairshare.Queue       // in sharing as in KAI; else nil
	holds    []fairshare.QueueShares // likewise
	id       string                  // of the requests
	tried
	runs     runs
	anyRight bool // any queue may have a right that its policies do not say
	inOrder  bool // candidates come in the documented order
	inTurn   bool // and nothing but it decides
	all      bool // all workloads are asked about, so that turns are kept
	unsure   bool // its turn came, and it was not named
	taken    bool // it is among those that are taken
	reaches  map[reach]reached
	last     lastReach
	narrows  bool // reaches say who may be named
	timeless bool // time changes nothing
	passes   map[pass]map[string]preemption.Turn
	kept     int
	// decisions are those of the last requests, where all workloads are asked about.
	decisions map[decided]preemption.Decision
}

// asking is a queue from which requests come.
type asking struct {
	queue.Queue
	index     int
	rows      []preemption.QuotaStatus // of what it has quota for
	contested string                   // the rows of which more than is available could be used, as runes
	columns   int                      // of those rows, as a number
	onNodes   []bool                   // by row: it needs room on nodes, too
	numbers   map[string]int           // of the columns of rows
	cleared   []int64                  // by row: what is available once all that leaves has left, which is awaited where it is enough
	choices   [][]string               // of combinations, by how many
}

// tried is what was asked about a workload at an instant.
type tried struct {
	left     int  // decisions
	several  bool // something else may name it, with several resources
	possible bool // some request that was asked could take it, if others gave enough
}

// New prepares the question. It fails with preemption.Faults if an option is not valid.
func New(p *preemption.Preemptor, s *preemption.Snapshot, o Options) (*Asker, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.MaxDecisions = cmp.Or(o.MaxDecisions, defaultDecisions)
	a := &Asker{
		options: o, snapshot: s, where: places{map[string]string{}, map[string][]int{}}, byTree: map[string][]*asking{}, read: map[string]bool{},
		numbers: map[string]int{},
		donors:  map[string]*donor{},
		passes:  map[pass]map[string]preemption.Turn{}, decisions: map[decided]preemption.Decision{}, reaches: map[reach]reached{},
	}
	c := p.Config()
	a.inOrder = c.Sharing == preemption.Classical
	a.inTurn = a.inOrder && c.Search == preemption.Greedy && len(c.Limits) == 0
	c.MaxBlockers, c.MaxRetrySteps = -1, -1
	a.decider, _ = preemption.New(c) // it was valid
	a.bare = a.decider
	if !o.GuardsReadWorkloads && len(c.Guards) > 0 {
		c.Guards = nil
		a.bare, _ = preemption.New(c)
	}
	a.readQueues()
	a.readDoubts(p.Config())
	a.readShares(c)
	a.narrows = a.inTurn && len(o.OnNodes) == 0 && !a.leaves && a.decider == a.bare && !a.anyRight
	a.runs = runs{snapshot: s, where: &a.where, now: instant.Of(o.Now), durations: a.durations(), ranks: map[string][]int64{}, changes: map[region][]int64{}}
	a.timeless = len(c.Guards) == 0 && len(a.runs.durations) == 1
	for a.id = "safe"; ; a.id += "'" {
		if _, taken := s.Find(a.id); !taken {
			return a, nil
		}
	}
}

func (a *Asker) readQueues() {
	parents := map[string]string{}
	for c := range a.snapshot.Cohorts() {
		parents[c.Name] = c.Parent
	}
	a.cleared = a.snapshot
	if leaves := a.snapshot.Removals(); len(leaves) > 0 {
		a.leaves = true
		a.cleared, _ = a.snapshot.With(leaves...) // they are its own
	}
	for q := range a.snapshot.Queues() {
		root := "queue " + q.Name
		for c := q.Cohort; c != ""; c = parents[c] {
			root = "cohort " + c
			a.where.cohorts[q.Name] = append(a.where.cohorts[q.Name], a.number(c))
		}
		a.where.trees[q.Name] = root
		if q.Inactive {
			continue
		}
		of := &asking{Queue: q}
		a.queues = append(a.queues, of)
		a.byTree[root] = append(a.byTree[root], of)
	}
}

// queuesOf returns the active queues of a tree, by name, with what they have quota for, which is read when it is first needed.
func (a *Asker) queuesOf(root string) []*asking {
	if !a.read[root] {
		a.read[root] = true
		for i, q := range a.byTree[root] {
			q.index = i
			a.readQuota(q)
		}
	}
	return a.byTree[root]
}

func (a *Asker) readQuota(q *asking) {
	all, _ := a.snapshot.QueueStatus(q.Name)
	var rows []preemption.QuotaStatus
	for rank := range 3 {
		for i := range all {
			if everyday(all[i].Resource, all[i].PotentialAvailable) == rank {
				rows = append(rows, all[i])
			}
		}
	}
	then := rows
	if a.cleared != a.snapshot {
		then, _ = a.cleared.QueueStatus(q.Name, names(rows)...)
	}
	for _, row := range rows {
		has := slices.ContainsFunc(q.Quotas, func(e quota.Quota) bool {
			return e.Flavor == row.Flavor && e.Resource == row.Resource
		})
		if row.Available = max(0, row.Available); has && row.PotentialAvailable > 0 {
			q.rows = append(q.rows, row)
			at := slices.IndexFunc(then, func(r preemption.QuotaStatus) bool { return r.FlavorResource == row.FlavorResource })
			q.cleared = append(q.cleared, then[at].Available)
			q.onNodes = append(q.onNodes, slices.Contains(a.options.OnNodes, row.Flavor))
			if contested(&row) {
				q.contested += string(rune(len(q.rows) - 1))
			}
		}
	}
	q.numbers = map[string]int{}
	q.columns = a.columnsOf(q, q.contested)
}

// everyday is greater for what every job asks for: a job on devices is shown by a request for those. What there is so much of that
// it is counted in bytes is between.
func everyday(resource string, most int64) int {
	switch {
	case slices.Contains([]string{"cpu", "memory", "pods", "ephemeral-storage"}, resource):
		return 2
	case most >= 1<<20:
		return 1
	}
	return 0
}

// number returns a number that stands for a name.
func (a *Asker) number(name string) int {
	n, known := a.numbers[name]
	if !known {
		n = len(a.numbers)
		a.numbers[name] = n
	}
	return n
}

func names(rows []preemption.QuotaStatus) (list []quota.FlavorResource) {
	for i := range rows {
		list = append(list, rows[i].FlavorResource)
	}
	return list
}

// contested reports whether more than is available could be used, so that a request may need preemption for it.
func contested(row *preemption.QuotaStatus) bool { return row.Available < row.PotentialAvailable }

// readDoubts notes the features with which requests that were not asked may count.
func (a *Asker) readDoubts(c preemption.Config) {
	add := func(is bool, d Doubt) {
		if is {
			a.doubts = append(a.doubts, d)
		}
	}
	add(a.decider != a.bare, Guards)
	add(a.byRules(), Rules)
	add(len(c.Limits) > 0, Limits)
	add(c.Sharing != preemption.Classical, FairSharing)
	add(c.Search != preemption.Greedy, BestSearch)
	a.anyRight = a.byRules() || c.Sharing == preemption.KAI
}

// byRules reports whether rules may decide in some queue.
func (a *Asker) byRules() bool {
	for _, q := range a.queues {
		if q.Rules != "" {
			return true
		}
	}
	return false
}
