package slurm

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// lived is a cluster of Slurm that lives: jobs come, wait, preempt by their QOS, run, end, and are requeued. What sacct and the log of
// slurmctld would say is kept. Some preemptions are spoilt on purpose. It is written from preempt.html, sacctmgr(1) and slurm.conf(5).
type lived struct {
	*rand.Rand
	now     int64
	free    map[string]amounts
	nodes   []string
	jobs    []*task
	rows    []string
	log     []string
	truth   map[string]*choice // by victim and the end of its run
	spoils  bool
	debugs  bool // the log has the grace times
	number  int
	cleans  []*task // whose room is free from the next cycle on, with want as their nodes
	shifted int64   // by how much the clock of the log is ahead
}

// choice is whom a preemptor was given.
type choice struct{ kind string }

// task is a job of a lived cluster.
type task struct {
	id, raw, qos, account, partition string
	priority                         int64
	per                              amounts // on each of its nodes
	count                            int
	submit, start, ends, leaves      int64 // leaves: when it is stopped for another; zero: not
	on, want                         []string
	by                               *task
	choice                           *choice
	done, requeues                   bool
}

type service struct {
	preempts      []string
	exempt, grace int64
}

var services = map[string]service{
	"urgent": {preempts: []string{"normal", "scavenger", "spot"}}, "normal": {preempts: []string{"scavenger", "spot"}, exempt: 900},
	"scavenger": {exempt: 600}, "spot": {exempt: 300, grace: 120}, "left": {preempts: []string{"right"}}, "right": {preempts: []string{"left"}},
}

const qosRows = "Name|GraceTime|Preempt|PreemptMode|PreemptExemptTime\nurgent|00:00:00|normal,scavenger,spot|requeue|\n" +
	"normal|00:00:00|scavenger,spot|requeue|00:15:00\nscavenger|00:00:00||requeue|00:10:00\nspot|00:02:00||requeue|00:05:00\n" +
	"left|00:00:00|right|requeue|\nright|00:00:00|left|requeue|\n"

func newLived(seed uint64, spoils bool) *lived {
	l := &lived{Rand: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC).Unix(), free: map[string]amounts{}, truth: map[string]*choice{}, spoils: spoils, number: 1000}
	l.debugs = l.IntN(2) == 0
	for i := range 6 {
		l.nodes = append(l.nodes, fmt.Sprintf("gpu%02d", i+1))
	}
	for i := range 3 {
		l.nodes = append(l.nodes, fmt.Sprintf("cpu%d", i+1))
	}
	for _, n := range l.nodes {
		l.free[n] = capacity(n)
	}
	return l
}

func capacity(node string) amounts {
	if strings.HasPrefix(node, "gpu") {
		return amounts{64000, 8000, 512 << 10}
	}
	return amounts{32000, 0, 128 << 10}
}

func (l *lived) nodesJSON() string {
	var list []string
	for _, n := range l.nodes {
		c, gres := capacity(n), ""
		tres := fmt.Sprintf("cpu=%d,mem=%dM", c[0]/1000, c[2])
		if c[1] > 0 {
			tres, gres = tres+fmt.Sprintf(",gres/gpu=%d", c[1]/1000), fmt.Sprintf("gpu:h100:%d(S:0-1)", c[1]/1000)
		}
		list = append(list, fmt.Sprintf(`{"name":%q,"cpus":%d,"real_memory":%d,"gres":%q,"tres":%q,"partitions":[%q],"state":["MIXED"]}`, n, c[0]/1000, c[2], gres, tres, n[:3]))
	}
	return `{"nodes": [` + strings.Join(list, ",\n") + `]}`
}

func (l *lived) live(steps int) *lived {
	for range steps {
		l.now += 2 + l.Int64N(200)
		for _, j := range l.jobs {
			switch {
			case j.start == 0 || j.done:
			case j.leaves > 0 && l.now >= j.leaves:
				l.stop(j)
			case j.leaves == 0 && l.now > j.ends:
				l.release(j, l.now, "COMPLETED")
				j.done = true
			}
		}
		if l.IntN(2) > 0 {
			l.submit()
		}
		l.cycle()
		if len(l.cleans) > 0 { // Slurm looks again soon
			l.now += 2 + l.Int64N(20)
			l.cycle()
		}
	}
	for _, j := range l.jobs {
		if !j.done {
			l.row(j, 0, map[bool]string{true: "PENDING", false: "RUNNING"}[j.start == 0])
		}
	}
	return l
}

func (l *lived) submit() {
	names := []string{"urgent", "normal", "normal", "scavenger", "scavenger", "scavenger", "spot", "spot", "left", "right"}
	j := task{qos: names[l.IntN(len(names))], account: []string{"vision", "nlp", "bio"}[l.IntN(3)], partition: "gpu", count: 1 + max(0, l.IntN(4)-2), submit: l.now, requeues: l.IntN(4) > 0}
	j.priority = map[string]int64{"urgent": 5000, "normal": 3000, "scavenger": 1000, "spot": 1000}[j.qos] + l.Int64N(500)
	if j.per = (amounts{(1 + l.Int64N(8)) * 4000, 1000 << l.IntN(4), (1 + l.Int64N(8)) << 15}); l.IntN(4) == 0 {
		j.partition, j.per = "cpu", amounts{(1 + l.Int64N(8)) * 4000, 0, (1 + l.Int64N(4)) << 14}
	}
	if l.IntN(5) == 0 && j.partition == "gpu" {
		j.per = capacity("gpu01") // --exclusive
	}
	tasks := 1
	if l.IntN(6) == 0 {
		tasks = 3
	}
	array := l.number
	l.number++
	for i := range tasks {
		one := j
		if one.id, one.raw = fmt.Sprint(array), fmt.Sprint(array); tasks > 1 {
			one.id = fmt.Sprintf("%d_%d", array, i)
		}
		if i > 0 {
			one.raw = "" // until it starts
		}
		l.jobs = append(l.jobs, &one)
	}
}

// place finds nodes for a job with what is free.
func (l *lived) place(j *task, free map[string]amounts) (on []string) {
	for _, n := range l.nodes {
		if len(on) < j.count && strings.HasPrefix(n, j.partition) && j.per.within(free[n]) {
			on = append(on, n)
		}
	}
	if len(on) < j.count {
		return nil
	}
	return on
}

// without is what is free once some jobs are gone.
func (l *lived) without(gone []*task) map[string]amounts {
	free := map[string]amounts{}
	for n, a := range l.free {
		free[n] = a
	}
	for _, j := range gone {
		for _, n := range j.on {
			free[n] = free[n].plus(j.per, 1)
		}
	}
	return free
}

func (l *lived) cycle() {
	for _, c := range l.cleans {
		l.gives(c.want, c.per)
	}
	l.cleans = nil
	waiting := slices.DeleteFunc(slices.Clone(l.jobs), func(j *task) bool { return j.start > 0 || j.done })
	slices.SortFunc(waiting, func(a, b *task) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.submit, b.submit), strings.Compare(a.id, b.id))
	})
	for _, j := range waiting {
		busy := slices.ContainsFunc(l.jobs, func(v *task) bool { return v.by == j && v.leaves > 0 && !v.done })
		on := l.place(j, l.free)
		switch {
		case busy && l.spoils && l.IntN(3) == 0: // it does not wait for whom it preempted
			if more := l.choose(j, l.mayYield); len(more) > 0 {
				c := &choice{"Again"}
				l.tell(j, more, c)
				for _, v := range more {
					if v.leaves <= l.now {
						l.stop(v)
					}
				}
			}
		case busy: // it waits for whom it preempted
		case on != nil && l.spoils && j.want == nil && l.IntN(8) == 0 && l.needless(j):
		case on != nil:
			if want := l.only(j); want != nil {
				on = want
			}
			if j.raw == "" {
				j.raw = fmt.Sprint(l.number)
				l.number++
			}
			j.on, j.start, j.ends, j.want = on, l.now, l.now+600+l.Int64N(9000), nil
			for _, n := range on {
				l.free[n] = l.free[n].plus(j.per, -1)
			}
		default:
			if victims := l.choose(j, l.mayYield); victims != nil {
				l.preempt(j, victims)
			}
		}
	}
}

func (l *lived) mayYield(j, v *task) bool {
	return slices.Contains(services[j.qos].preempts, v.qos) && l.now-v.start >= services[v.qos].exempt
}

// choose finds victims none of whom can stay.
func (l *lived) choose(j *task, may func(j, v *task) bool) (victims []*task) {
	for _, v := range l.jobs {
		if v.start > 0 && v.start < l.now && !v.done && v.leaves == 0 && v.partition == j.partition && may(j, v) {
			victims = append(victims, v)
		}
	}
	if l.place(j, l.without(victims)) == nil {
		return nil
	}
	for _, v := range slices.Clone(victims) {
		fewer := slices.DeleteFunc(slices.Clone(victims), func(o *task) bool { return o == v })
		if l.place(j, l.without(fewer)) != nil {
			victims = fewer
		}
	}
	return victims
}

// only are the nodes that a job was made room on, if they have it.
func (l *lived) only(j *task) (on []string) {
	for _, n := range j.want {
		if !j.per.within(l.free[n]) {
			return nil
		}
	}
	return j.want
}

func (l *lived) gives(nodes []string, a amounts) {
	for _, n := range nodes {
		l.free[n] = l.free[n].plus(a, 1)
	}
}

// needless preempts for a job that fits as things are: it gets the victim's nodes.
func (l *lived) needless(j *task) bool {
	for _, v := range l.jobs {
		if v.start > 0 && v.start < l.now && !v.done && v.leaves == 0 && v.partition == j.partition && l.mayYield(j, v) && services[v.qos].grace == 0 && v.count == j.count && j.per.within(v.per) {
			l.tell(j, []*task{v}, &choice{"Fitted"})
			j.want = v.on
			l.stop(v)
			return true
		}
	}
	return false
}

// preempt preempts, and spoils some.
func (l *lived) preempt(j *task, victims []*task) {
	if len(victims) == 0 {
		return
	}
	c := &choice{"Right"}
	if l.spoils && l.IntN(3) == 0 {
		switch l.IntN(3) {
		case 0:
			for _, v := range l.jobs {
				if v.start > 0 && v.start < l.now && !v.done && v.leaves == 0 && !slices.Contains(victims, v) && v.partition == j.partition && l.mayYield(j, v) {
					victims, c.kind = append(victims, v), "TooMany"
					break
				}
			}
		case 1:
			for _, v := range l.jobs {
				if v.start > 0 && v.start < l.now && !v.done && v.leaves == 0 && v != j && !slices.Contains(services[j.qos].preempts, v.qos) && v.partition == j.partition {
					victims, c.kind = []*task{v}, "NoRight"
					break
				}
			}
		default:
			early := func(j, v *task) bool {
				return slices.Contains(services[j.qos].preempts, v.qos) && l.now-v.start < services[v.qos].exempt
			}
			if other := l.choose(j, early); len(other) > 0 {
				victims, c.kind = other, "Exempt"
			}
		}
	}
	l.tell(j, victims, c)
	for _, v := range victims {
		if v.leaves <= l.now {
			l.stop(v)
		}
	}
}

// tell tells victims to leave.
func (l *lived) tell(j *task, victims []*task, c *choice) {
	for _, v := range victims {
		v.by, v.choice, v.leaves = j, c, l.now+services[v.qos].grace
		if services[v.qos].grace > 0 && l.debugs {
			l.say(l.now, "setting %d sec preemption grace time for %s to reclaim resources for %s", services[v.qos].grace, v.named(), j.named())
		}
	}
}

func (j *task) named() string {
	if j.raw == "" {
		array, _, _ := strings.Cut(j.id, "_")
		return "JobId=" + array + "_*"
	}
	if j.id != j.raw {
		return fmt.Sprintf("JobId=%s(%s)", j.id, j.raw)
	}
	return "JobId=" + j.id
}

func (l *lived) say(at int64, format string, args ...any) {
	l.log = append(l.log, fmt.Sprintf("[%s.%03d] ", time.Unix(at+l.shifted, 0).UTC().Format("2006-01-02T15:04:05"), l.IntN(1000))+fmt.Sprintf(format, args...))
}

// stop stops a victim: one with a grace time by its limit, which Slurm looks at each half a minute.
func (l *lived) stop(v *task) {
	at := min(l.now, v.leaves+l.Int64N(30))
	if services[v.qos].grace == 0 || !l.debugs {
		l.say(at, "preempted %s has been %s to reclaim resources for %s", v.named(), map[bool]string{true: "requeued", false: "killed"}[v.requeues], v.by.named())
	}
	l.truth[fmt.Sprint(v.id, " ", at)] = v.choice
	l.cleans = append(l.cleans, &task{want: v.on, per: v.per})
	l.row(v, at, "PREEMPTED")
	v.on = nil
	v.start, v.leaves, v.submit, v.done = 0, 0, at, !v.requeues
}

// release frees what a job holds.
func (l *lived) release(j *task, at int64, state string) {
	l.gives(j.on, j.per)
	l.row(j, at, state)
	j.on = nil
}

// row keeps a row of sacct.
func (l *lived) row(j *task, end int64, state string) {
	at := func(t int64) string {
		if t == 0 {
			return "Unknown"
		}
		return time.Unix(t, 0).UTC().Format("2006-01-02T15:04:05")
	}
	n := int64(j.count)
	tres := fmt.Sprintf("billing=1,cpu=%d,mem=%dM,node=%d", j.per[0]*n/1000, j.per[2]*n, n)
	if j.per[1] > 0 {
		tres += fmt.Sprintf(",gres/gpu=%d,gres/gpu:h100=%d", j.per[1]*n/1000, j.per[1]*n/1000)
	}
	alloc, list := tres, "None assigned"
	if j.start == 0 {
		alloc = ""
	} else if list = j.on[0]; len(j.on) > 1 {
		var numbers []string
		for _, node := range j.on {
			numbers = append(numbers, node[3:])
		}
		list = j.on[0][:3] + "[" + strings.Join(numbers, ",") + "]"
	}
	id, raw := j.id, j.raw
	if raw == "" {
		array, task, _ := strings.Cut(id, "_")
		id, raw = array+"_["+task+"]", array
	}
	l.rows = append(l.rows, strings.Join([]string{id, raw, j.account, j.partition, j.qos, state, at(j.submit), at(j.submit), at(j.start), at(end), alloc, tres, fmt.Sprint(j.priority), list, ""}, "|"))
}

const header = "JobID|JobIDRaw|Account|Partition|QOS|State|Submit|Eligible|Start|End|AllocTRES|ReqTRES|Priority|NodeList|Reservation\n"

const configLines = "Configuration data as of 2026-11-20T08:00:00\nPreemptExemptTime       = 00:00:00\nPreemptMode             = REQUEUE\nPreemptType             = preempt/qos\nSelectTypeParameters    = CR_CORE_MEMORY\n"

func rowsOf(rows []string) string { return header + strings.Join(rows, "\n") }

func logOf(l *lived) string { return strings.Join(l.log, "\n") }
