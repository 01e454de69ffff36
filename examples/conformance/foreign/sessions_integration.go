package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	sessions "github.com/cedesched/cede/examples/internal/session"
	"github.com/cedesched/cede/preemption/recorded"
)

// Reasons why an integration table of KAI is not asked.
const (
	memoryOfGPUs = "memory of GPUs is not modelled"
	subgroups    = "subgroups are not modelled"
	oddPods      = "pods that are stuck, or differ in one job, are not modelled"
)

// integrationInput is a table of KAI's integration tests: several sessions, one after the other.
type integrationInput struct {
	Departments []integrationQueue     `json:"departments"`
	Queues      []integrationQueue     `json:"queues"`
	Nodes       map[string]sessionNode `json:"nodes"`
	Jobs        []struct {
		sessionJob
		Groups struct {
			PodSets []json.RawMessage `json:"podSets"`
			Nested  json.RawMessage   `json:"nested"`
		} `json:"groups"`
	} `json:"jobs"`
}

type integrationQueue struct {
	Name   string   `json:"name"`
	Parent string   `json:"parent"`
	GPUs   float64  `json:"deservedGPUs"`
	CPUs   *float64 `json:"deservedCPUs"`
	Memory *float64 `json:"deservedMemory"`
	Weight float64  `json:"overQuotaWeight"`
}

// complete makes of a table what a session has: the tables say less, and the rest is what KAI's tests take for it. notAsked is why it is not
// played; empty: it is.
func (s *session) complete(line []byte) (notAsked string, err error) {
	var table struct {
		Input integrationInput `json:"input"`
	}
	if err := json.Unmarshal(line, &table); err != nil {
		return "", err
	}
	in := &table.Input
	s.Input.Settings.KValue, s.Input.Settings.Multiplier = 1, 1
	s.Input.Queues = nil
	listed := map[string]bool{}
	for _, q := range in.Queues {
		listed[q.Name] = true
	}
	for _, q := range in.Departments {
		listed[q.Name] = true
		s.addQueue(integrationQueue{Name: q.Name, GPUs: q.GPUs, Weight: q.GPUs})
	}
	for _, q := range in.Queues {
		if q.Parent != "" && !listed[q.Parent] {
			listed[q.Parent] = true
			s.addQueue(integrationQueue{Name: q.Parent, GPUs: -1, Weight: 1})
		}
		s.addQueue(q)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Nodes)) {
		n := in.Nodes[name]
		if n.MilliCPU == 0 {
			n.MilliCPU = 20_000_000
		}
		if n.Memory == 0 {
			n.Memory = 20e9
		}
		s.Input.Nodes[name] = n
	}
	started := 1
	for i := range s.Input.Jobs {
		j := &s.Input.Jobs[i]
		j.StartedMinutes = &started
		per := maps.Clone(j.PerTask)
		cores, has := per["cpusPerTask"].(float64)
		if !has {
			cores = 1
		}
		per["cpusPerTask"] = cores * 1000
		if _, has := per["memoryPerTask"]; !has {
			per["memoryPerTask"] = 1e9
		}
		j.PerTask = per
		gpus, _ := per["gpusPerTask"].(float64)
		if _, parts := per["gpuMemoryPerTask"]; parts {
			notAsked = memoryOfGPUs
		}
		for k := range j.Tasks {
			if t := &j.Tasks[k]; notAsked == "" && (t.GPUs != gpus && t.GPUs != 0 || t.State != "Running" && t.State != "Pending") {
				notAsked = oddPods
			}
		}
		if of := in.Jobs[i].Groups; notAsked == "" && (len(of.PodSets) != 1 || len(of.Nested) > 0) {
			notAsked = subgroups
		}
	}
	return notAsked, json.Unmarshal(s.Want.Rounds, &s.rounds)
}

// addQueue adds a queue, as old as it is listed.
func (s *session) addQueue(q integrationQueue) {
	claim := func(deserved *float64) *sharesClaim {
		c := &sharesClaim{Deserved: -1, Limit: -1, Weight: 1}
		if deserved != nil {
			c.Deserved = *deserved
		}
		return c
	}
	s.Input.Queues = append(s.Input.Queues, sharesQueue{Name: q.Name, Parent: q.Parent, Created: int64(len(s.Input.Queues)), CPU: claim(q.CPUs), Memory: claim(q.Memory),
		GPU: &sharesClaim{Deserved: q.GPUs, Limit: -1, Weight: q.Weight}})
}

// checkRounds plays the sessions of a table.
func (s *session) checkRounds(r *recorded.Report) error {
	on, _, err := s.start()
	if err != nil {
		return err
	}
	for i := range s.rounds {
		want := &s.rounds[i]
		var moved []string
		gone, placed, err := s.play(on, func(step *sessions.Step) {
			moved = append(moved, movedBy(step)...)
			judgeMoves(step, r)
		})
		if err != nil {
			return err
		}
		placed = slices.DeleteFunc(placed, func(task string) bool { return slices.Contains(gone, task) })
		if slices.SortFunc(moved, compareTasks); !slices.Equal(moved, names(want.Moved)) {
			if !s.kaiSearch {
				r.Departures = append(r.Departures, oneSet) // in later sessions other pods wait
				return nil
			}
			r.Differences = append(r.Differences, recorded.Difference{What: fmt.Sprintf("moved in session %d", i+1), Want: names(want.Moved), Got: moved})
		}
		for _, c := range []struct {
			what      string
			want, got []string
		}{{"evicted", names(want.Evicted, want.Undone), gone}, {"placed", names(want.Placed, want.Bound), placed}} {
			if !slices.Equal(c.want, c.got) {
				r.Differences = append(r.Differences, recorded.Difference{What: fmt.Sprintf("%s in session %d", c.what, i+1), Want: c.want, Got: c.got})
			}
		}
		if err := on.End(); err != nil {
			return err
		}
	}
	return nil
}
