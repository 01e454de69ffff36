package main

import (
	"encoding/json"
	"io"
	"slices"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// victim is a victim with facts for the reader.
type victim struct {
	preemption.Victim
	Priority   int64     `json:"priority"` // effective
	ReservedAt time.Time `json:"reservedAt,omitzero"`
	// Age is in seconds since the reservation; absent if unknown.
	Age *int64 `json:"age,omitempty"`
	// LeavingSince is when one that is leaving already was told to; absent if unknown.
	LeavingSince time.Time `json:"leavingSince,omitzero"`
	// Holds is what it holds in the requested columns, or what its yielding replicas hold.
	Holds []quota.Amount `json:"holds"`
}

func (a *answer) victims() []victim {
	asked := a.requested()
	list := []victim{}
	for _, v := range a.decision.Victims {
		w, _ := a.Snapshot.Find(v.Workload)
		out := victim{
			Victim: v, Priority: w.EffectivePriority(), ReservedAt: w.ReservedAt, Holds: []quota.Amount{}, LeavingSince: a.Found.LeavingSince[v.Workload],
		}
		if !w.ReservedAt.IsZero() {
			age := int64(a.request.Now.Sub(w.ReservedAt).Seconds())
			out.Age = &age
		}
		for _, u := range yields(&w, v.Replicas) {
			if slices.Contains(asked, u.FlavorResource()) {
				out.Holds = append(out.Holds, u)
			}
		}
		list = append(list, out)
	}
	return list
}

// yields returns what becomes free with a victim.
func yields(w *workload.Workload, replicas []preemption.Replicas) []quota.Amount {
	if len(replicas) == 0 {
		return w.Usage()
	}
	part := workload.Workload{}
	for _, r := range replicas {
		for _, p := range w.PodSets {
			if p.Name == r.PodSet {
				p.Count = r.Count
				part.PodSets = append(part.PodSets, p)
			}
		}
	}
	return part.Usage()
}

// victimNames are the IDs of the victims.
func (a *answer) victimNames() []string {
	names := []string{}
	if a.decision != nil {
		names = append(names, answers.VictimNames(a.decision.Victims)...)
	}
	return names
}

// printJSON writes one value.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(printable.JSON(w))
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printYAML writes one value, its fields as in JSON.
func printYAML(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	text, err := yaml.JSONToYAML(data)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// plain is the answer as plain data.
func (a *answer) plain() any {
	out := struct {
		Verdict  answers.Verdict      `json:"verdict"`
		Request  preemption.Request   `json:"request"`
		Decision *preemption.Decision `json:"decision,omitempty"` // absent: nothing can be decided
		Victims  []victim             `json:"victims"`
		Queues   []node               `json:"queues"`
		// FairShares is what queues may have and have, of KAI.
		FairShares []queueShares `json:"fairShares,omitempty"`
		Notes      []string      `json:"notes"`
	}{a.verdict, a.request, a.decision, []victim{}, []node{}, a.fairShares(), append([]string{}, a.notes...)}
	if a.decision != nil {
		out.Victims, out.Queues = a.victims(), a.tree(true)
	}
	return out
}
