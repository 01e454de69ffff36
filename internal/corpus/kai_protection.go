package corpus

import (
	"fmt"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
)

// ProtectionCase is whether KAI lets victims go.
type ProtectionCase struct {
	kaiTree
	Action    string            `json:"action"`
	Method    minruntime.Method `json:"reclaimResolveMethod"`
	Preemptor struct {
		Queue string `json:"queue"`
	} `json:"preemptor"`
	Victim    *kaiVictim  `json:"victim"`
	Victims   []kaiVictim `json:"victims"`
	Want      *kaiVerdict `json:"want"`
	Wants     []kaiVerdict
	Scenarios []struct {
		Evict []struct {
			Victim   string `json:"victim"`
			SubGroup string `json:"subGroup"`
			Count    int64  `json:"count"`
		} `json:"evict"`
		Valid bool `json:"valid"`
	} `json:"scenarios"`
}

type kaiVictim struct {
	Name      string     `json:"name"`
	Queue     string     `json:"queue"`
	Age       *text      `json:"age"` // since its start; absent: never started
	ZeroStart bool       `json:"zeroStart"`
	SubGroups []subGroup `json:"subGroups"`
}

type subGroup struct {
	Name         string           `json:"name"`
	MinAvailable int64            `json:"minAvailable"`
	Pods         map[string]int64 `json:"pods"` // by status
	Total        int64            `json:"total"`
	Active       int64            `json:"active"` // those that KAI takes for running
}

// running is how many replicas run: not those that are terminating.
func (g *subGroup) running() int64 { return g.Active - g.Pods["Releasing"] }

type kaiVerdict struct {
	Victim       string `json:"victim"`
	MinRuntime   text   `json:"minRuntime"`
	Elastic      bool   `json:"elastic"`
	Protected    bool   `json:"protected"`
	PassesFilter bool   `json:"passesFilter"`
}

// kaiNow is an arbitrary time: cases give ages.
var kaiNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// judged is a victim with this library's verdict.
type judged struct {
	kaiVictim
	minimum   time.Duration
	elastic   bool // some sub group runs more than its minimum
	protected bool
	departure string // what explains another verdict of KAI's
}

func (c *ProtectionCase) judge(tree *minruntime.Tree, v kaiVictim) (judged, error) {
	r, ok := tree.Preempt(v.Queue)
	if c.Action == "reclaim" {
		r, ok = tree.Reclaim(c.Preemptor.Queue, v.Queue)
	}
	if !ok {
		return judged{}, fmt.Errorf("case %q: unknown queue %q or %q", c.Name, c.Preemptor.Queue, v.Queue)
	}
	j := judged{kaiVictim: v, minimum: r.MinRuntime}
	var start time.Time
	if v.Age != nil && !v.ZeroStart {
		start = kaiNow.Add(-time.Duration(*v.Age))
	}
	until, protects := minruntime.ProtectedUntil(start, r.MinRuntime)
	j.protected = protects && !kaiNow.After(until)
	for _, g := range v.SubGroups {
		j.elastic = j.elastic || g.running() > g.MinAvailable
	}
	switch {
	case protects && kaiNow.Equal(until):
		j.departure = ExactlyAtTheEnd
	case !start.IsZero() && start.After(kaiNow) && r.MinRuntime == 0:
		j.departure = StartInTheFuture
	default:
		for _, g := range v.SubGroups {
			if g.running() != g.Total {
				j.departure = OnlyRunningCounts
			}
		}
	}
	return j, nil
}

// Check compares the resolved minimum, the verdict on each victim, and which sets of
// replicas may go.
func (c *ProtectionCase) Check(*preemption.Preemptor) (Report, error) {
	if c.negative() {
		return c.refused()
	}
	tree, err := c.tree(c.Method)
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	victims, wants := c.Victims, c.Wants
	if c.Victim != nil {
		victims = append(victims, *c.Victim)
	}
	if c.Want != nil {
		c.Want.Victim = c.Victim.Name
		wants = append(wants, *c.Want)
	}
	var r Report
	byName := map[string]judged{}
	for _, v := range victims {
		j, err := c.judge(tree, v)
		if err != nil {
			return Report{}, err
		}
		byName[v.Name] = j
	}
	for _, w := range wants {
		j := byName[w.Victim]
		verdict := func(minimum time.Duration, elastic, protected, passes bool) []string {
			return []string{fmt.Sprintf("min runtime %v, elastic %v, protected %v, passes %v", minimum, elastic, protected, passes)}
		}
		r.compareUnless(j.departure, "verdict on "+w.Victim,
			verdict(time.Duration(w.MinRuntime), w.Elastic, w.Protected, w.PassesFilter),
			verdict(j.minimum, j.elastic, j.protected, j.elastic || !j.protected))
	}
	for i, s := range c.Scenarios {
		valid, departure := true, ""
		lost := map[[2]string]int64{}
		for _, e := range s.Evict {
			name := e.Victim
			if name == "" {
				name = victims[0].Name
			}
			lost[[2]string{name, e.SubGroup}] += e.Count
			if d := byName[name].departure; d != "" {
				departure = d
			}
		}
		for _, v := range victims {
			j := byName[v.Name]
			for _, g := range v.SubGroups {
				// Rigid victims passed the verdict above; only elastic ones are asked about here.
				if j.elastic && !minruntime.MayLose(g.running(), g.MinAvailable, lost[[2]string{v.Name, g.Name}], j.protected) {
					valid = false
				}
			}
		}
		r.compareUnless(departure, fmt.Sprintf("scenario %d %v", i, s.Evict), []string{fmt.Sprint(s.Valid)}, []string{fmt.Sprint(valid)})
	}
	return r, nil
}
