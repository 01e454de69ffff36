package corpus

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/minimum"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// ProtectionCase is a record of which victims KAI lets yield.
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
	Active       int64            `json:"active"` // those that KAI counts as running
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

// judged is a victim with this library's verdict, the verdict that it would give without
// the departure, and the one that the departure makes right.
type judged struct {
	kaiVictim
	minimum          time.Duration
	ours, as, design verdict
	departure        string // why ours differs from as
}

type verdict struct {
	elastic   bool // some sub group has more than its minimum
	protected bool
	count     func(*subGroup) int64 // replicas that count as running
}

func (v verdict) text(minimum time.Duration) []string {
	return verdictText(minimum, v.elastic, v.protected, v.elastic || !v.protected)
}

func verdictText(minimum time.Duration, elastic, protected, passes bool) []string {
	return []string{fmt.Sprintf("min runtime %v, elastic %v, protected %v, passes %v", minimum, elastic, protected, passes)}
}

// mayLose reports whether the victim's sub groups may lose the given numbers of replicas. It
// is called for elastic victims; for rigid ones the verdict decides.
func (v verdict) mayLose(victim *kaiVictim, lost map[[2]string]int64) bool {
	for i := range victim.SubGroups {
		g := &victim.SubGroups[i]
		runs := workload.PodSet{Count: v.count(g), MinCount: workload.AtLeast(g.MinAvailable)}
		if lost := lost[[2]string{victim.Name, g.Name}]; v.elastic && v.protected && lost > max(0, runs.Surplus()) {
			return false
		}
	}
	return true
}

// check fails on a line that is JSON but no case that can be asked.
func (c *ProtectionCase) check() error {
	if c.Action != "preempt" && c.Action != "reclaim" {
		return fmt.Errorf("case %q: unknown action %q", c.Name, c.Action)
	}
	return c.kaiTree.check()
}

func (c *ProtectionCase) judge(of resolver, v kaiVictim) (judged, error) {
	least, ok := of.preempt(v.Queue)
	if c.Action == "reclaim" {
		least, ok = of.reclaim(c.Preemptor.Queue, v.Queue)
	}
	if !ok {
		return judged{}, fmt.Errorf("case %q: unknown queue %q or %q", c.Name, c.Preemptor.Queue, v.Queue)
	}
	j := judged{kaiVictim: v, minimum: least}
	var start time.Time
	if v.Age != nil && !v.ZeroStart {
		start = kaiNow.Add(-time.Duration(*v.Age))
	}
	until, protects := minimum.Runtime{For: least}.Until(instant.Of(start))
	j.ours = verdict{protected: protects && instant.Of(kaiNow) <= until, count: (*subGroup).running}
	j.as = verdict{protected: j.ours.protected, count: func(g *subGroup) int64 { return g.Active }}
	for i := range v.SubGroups {
		g := &v.SubGroups[i]
		j.ours.elastic = j.ours.elastic || g.running() > g.MinAvailable
		j.as.elastic = j.as.elastic || g.Total > g.MinAvailable
		if g.running() != g.Total {
			j.departure = OnlyRunningCounts
		}
	}
	j.design = j.ours
	switch {
	case protects && instant.Of(kaiNow) == until:
		j.departure, j.as.protected, j.design.protected = ExactlyAtTheEnd, false, true
	case !start.IsZero() && start.After(kaiNow) && least == 0:
		j.departure, j.as.protected, j.design.protected = StartInTheFuture, true, false
	}
	return j, nil
}

// Check compares the resolved minimum, the verdict on each victim, and which sets of
// replicas may go.
func (c *ProtectionCase) Check(*preemption.Preemptor) (Report, error) {
	if c.negative() {
		return c.refused()
	}
	of, err := c.resolver(c.Method)
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
		j, err := c.judge(of, v)
		if err != nil {
			return Report{}, err
		}
		byName[v.Name] = j
	}
	for _, w := range wants {
		j := byName[w.Victim]
		want := verdictText(time.Duration(w.MinRuntime), w.Elastic, w.Protected, w.PassesFilter)
		e := excuse{}
		if slices.Equal(want, j.as.text(j.minimum)) {
			e = excuse{j.departure, j.design.text(j.minimum)}
		}
		r.compareUnless(e, "verdict on "+w.Victim, want, j.ours.text(j.minimum))
	}
	for i, s := range c.Scenarios {
		lost := map[[2]string]int64{}
		for _, e := range s.Evict {
			name := e.Victim
			if name == "" {
				name = victims[0].Name
			}
			lost[[2]string{name, e.SubGroup}] += e.Count
		}
		ours, as, design, departure := true, true, true, ""
		for _, v := range victims {
			j := byName[v.Name]
			ours, as, design = ours && j.ours.mayLose(&v, lost), as && j.as.mayLose(&v, lost), design && j.design.mayLose(&v, lost)
			if departure == "" {
				departure = j.departure
			}
		}
		if as != s.Valid {
			departure = "" // no departure explains it
		}
		r.compareUnless(excuse{departure, []string{fmt.Sprint(design)}}, fmt.Sprintf("scenario %d %v", i, s.Evict), []string{fmt.Sprint(s.Valid)}, []string{fmt.Sprint(ours)})
	}
	return r, nil
}
