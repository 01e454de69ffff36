package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/preemptiontest"
	"github.com/cedesched/cede/preemption/settle"
	"github.com/cedesched/cede/quota"
)

// Generators of records; each seed gives one.
var (
	records       = preemptiontest.Records()
	openRecords   = preemptiontest.RecordsWithoutFlavors()
	configs       = preemptiontest.Configs()
	nodeRecords   = preemptiontest.PlacementRecords()
	nodeConfigs   = preemptiontest.PlacementConfigs()
	randomFor     = func(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 7)) }
	chance        = func(r *rand.Rand, n, of int) bool { return r.IntN(of) < n }
	minutesBefore = func(r *rand.Rand, most int) time.Time {
		return preemptiontest.Now.Add(-time.Duration(r.IntN(most+1)) * time.Minute)
	}
)

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// generate makes the case of a seed, with cede's answer; ok is false if the question has no answer.
func generate(form string, seed int) (c Case, ok bool) {
	r := randomFor(seed)
	var question any
	switch form {
	case Decide:
		question = decideQuestion(r, seed)
	case Place:
		question = placeQuestion(seed)
	case Orchestrate:
		question = orchestrateQuestion(r)
	case Cycles:
		question = cyclesQuestion(r, seed)
	case Settle:
		question = settleQuestion(r, seed)
	case Move:
		of := placeQuestion(seed)
		question = &MoveQuestion{Config: of.Config, Moving: drawMoving(r), State: of.State, Request: of.Request}
	case Clear:
		question = clearQuestion(r, seed)
	}
	c = Case{ID: fmt.Sprintf("%s-%d", form, seed), Form: form, Seed: seed, Question: compact(question)}
	answer, err := Answer(form, c.Question)
	if err != nil {
		return c, false
	}
	c.Answer = answer
	return c, true
}

// compact is the JSON of a question in which the configuration has only what is not as in the zero value.
func compact(question any) json.RawMessage {
	data, err := json.Marshal(question)
	must(err)
	var fields map[string]json.RawMessage
	must(json.Unmarshal(data, &fields))
	if of := reflect.ValueOf(question).Elem().FieldByName("Config"); !of.IsNil() {
		config := unlike(asJSON(of.Interface()), asJSON(reflect.New(of.Type().Elem()).Interface()))
		if fields["config"], err = json.Marshal(config); config == nil {
			delete(fields, "config")
		}
		must(err)
	}
	data, err = json.Marshal(fields)
	must(err)
	return data
}

// asJSON returns a struct as JSON has it.
func asJSON(of any) (fields any) {
	data, err := json.Marshal(of)
	must(err)
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	must(in.Decode(&fields))
	return fields
}

// unlike returns what of a value is not as in another one; nil: nothing.
func unlike(v, other any) any {
	fields, is := v.(map[string]any)
	if !is {
		if reflect.DeepEqual(v, other) {
			return nil
		}
		return v
	}
	others, _ := other.(map[string]any)
	for key, of := range fields {
		if fields[key] = unlike(of, others[key]); fields[key] == nil {
			delete(fields, key)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return v
}

// decideQuestion has the profile of its seed: only what a simple scheduler has, or everything.
func decideQuestion(r *rand.Rand, seed int) *DecideQuestion {
	record := records.Example(seed)
	if chance(r, 1, 5) {
		record = openRecords.Example(seed)
	}
	config := configs.Example(seed)
	config.Guards = nil
	q := &DecideQuestion{Config: &config, State: record.State, Request: *record.Request}
	switch seed % 4 {
	case 0:
		simple(q, seed/4%3)
		return q
	case 1:
		config.Sharing, config.Strategies = preemption.Classical, nil
		addRules(r, q)
	case 2:
		addLimits(r, q)
		config.Protection.Preempt, config.Protection.Reclaim = pick(r, 0, 0, 15*time.Minute), pick(r, 0, 0, 25*time.Minute)
		if config.Sharing != preemption.Classical && chance(r, 1, 3) && config.Sharing == preemption.Fair {
			config.Sharing = preemption.Reevaluated
		}
		exchanges := preemption.Config{Search: preemption.Best, Best: preemption.BestSearch{Steps: -1}}
		searched := pick(r, preemption.Config{}, exchanges, preemption.Config{Search: preemption.Best})
		config.Search, config.Best = searched.Search, searched.Best
	}
	more(r, q)
	return q
}

func placeQuestion(seed int) *PlaceQuestion {
	record, config := nodeRecords.Example(seed), nodeConfigs.Example(seed)
	config.Filters, config.Guards = nil, nil
	return &PlaceQuestion{Config: &config, State: record.State, Request: *record.Request}
}

func orchestrateQuestion(r *rand.Rand) *OrchestrateQuestion {
	q := &OrchestrateQuestion{Now: preemptiontest.Now, Config: &gate.Config{
		Order: pick(r, gate.FirstSignal, gate.Preference, gate.Cheapest), Timeout: pick(r, 0, 10*time.Minute), Grace: pick(r, 0, 0, 2*time.Minute, 8*time.Minute),
		PreemptingTimeout: pick(r, 0, 0, 20*time.Minute),
	}}
	for i := range 1 + r.IntN(4) {
		replica := gate.Replica{Name: string(rune('a' + i)), Progress: pick(r, gate.Pending, gate.Pending, gate.Pending, gate.Reserved, gate.Preempting, 0)}
		if !chance(r, 1, 10) {
			replica.Gates.Names = []string{gate.MultiKueue}
		}
		if chance(r, 3, 4) {
			replica.Gates = replica.Gates.Signalled(minutesBefore(r, 12))
		}
		if chance(r, 1, 3) && len(replica.Gates.Names) > 0 {
			replica.Gates = replica.Gates.Opened(gate.MultiKueue, minutesBefore(r, 12))
		}
		if replica.Progress == gate.Preempting {
			replica.Since = minutesBefore(r, 25)
		}
		if chance(r, 1, 2) {
			replica.Offer = gate.Offer{Victims: r.IntN(4), LostWork: time.Duration(r.IntN(3)) * time.Hour}
			if chance(r, 1, 2) {
				replica.Offer.Lost = quota.Some(int64(r.IntN(3)))
			}
		}
		q.Replicas = append(q.Replicas, replica)
	}
	if chance(r, 1, 2) { // ties
		for i := range q.Replicas {
			if since := q.Replicas[0].Gates.Blocked.Since; q.Replicas[i].Gates.Blocked.Active && !since.IsZero() {
				q.Replicas[i].Gates.Blocked.Since = since
			}
			if chance(r, 1, 2) {
				q.Replicas[i].Offer = q.Replicas[0].Offer
			}
		}
	}
	r.Shuffle(len(q.Replicas), func(i, j int) { q.Replicas[i], q.Replicas[j] = q.Replicas[j], q.Replicas[i] })
	return q
}

// settleQuestion is about a state in which some queues and cohorts have less quota than before.
func settleQuestion(r *rand.Rand, seed int) *SettleQuestion {
	d := decideQuestion(r, seed)
	q := &SettleQuestion{Config: d.Config, State: d.State, Request: settle.Request{Now: preemptiontest.Now, LocalQueueUsage: d.Request.LocalQueueUsage}}
	var nodes []settle.Node
	lower := func(of settle.Node, quotas []quota.Quota) {
		nodes = append(nodes, of)
		for i := range quotas {
			if chance(r, 1, 2) {
				quotas[i].Nominal /= int64(2 + r.IntN(3))
			}
		}
	}
	for i := range q.State.Queues {
		lower(settle.Node{Queue: q.State.Queues[i].Name}, q.State.Queues[i].Quotas)
	}
	for i := range q.State.Cohorts {
		lower(settle.Node{Cohort: q.State.Cohorts[i].Name}, q.State.Cohorts[i].Quotas)
	}
	some := func() settle.Node { return nodes[r.IntN(len(nodes))] }
	if len(nodes) > 0 && chance(r, 1, 4) {
		q.Request.Nodes = []settle.Node{some()}
	}
	if len(nodes) > 0 && chance(r, 1, 4) {
		q.Request.Delays = []settle.Delay{{Node: pick(r, settle.Node{}, some()), For: 10 * time.Minute}}
		q.Request.Since = []settle.Since{{Node: some(), At: minutesBefore(r, 20)}}
	}
	if chance(r, 1, 4) {
		q.Request.MaxVictims = 1 + r.IntN(3)
	}
	return q
}

func drawMoving(r *rand.Rand) Moving {
	return Moving{Prefer: chance(r, 1, 3), Start: pick(r, moves.AfterStop, moves.AfterStop, moves.BeforeStop)}
}

// clearQuestion empties nodes, or asks about nodes that lost capacity.
func clearQuestion(r *rand.Rand, seed int) *ClearQuestion {
	of := placeQuestion(seed)
	q := &ClearQuestion{Config: of.Config, Moving: drawMoving(r), State: of.State, Request: moves.ClearRequest{Now: preemptiontest.Now}}
	q.Moving.Prefer = false // a victim is not chosen
	if q.Request.Within = chance(r, 1, 3); q.Request.Within {
		for i := range q.State.Nodes {
			n := &q.State.Nodes[i]
			for _, name := range slices.Sorted(maps.Keys(n.Capacity)) {
				if chance(r, 1, 2) {
					n.Capacity[name] /= 2
				}
			}
		}
	}
	if chance(r, 1, 2) {
		q.Request.Count = 1 + r.IntN(2)
	}
	if names := len(q.State.Nodes); chance(r, 1, 3) && names > 1 {
		first := placement.Domain{Name: "rack-a", Nodes: []string{q.State.Nodes[0].Name, q.State.Nodes[1].Name}}
		q.Request.Domains = []placement.Domain{first}
		for _, n := range q.State.Nodes[2:] {
			q.Request.Domains = append(q.Request.Domains, placement.Domain{Name: "rack-" + n.Name, Nodes: []string{n.Name}})
		}
	}
	return q
}

func cyclesQuestion(r *rand.Rand, seed int) *CyclesQuestion {
	d := decideQuestion(r, seed)
	q := &CyclesQuestion{Config: d.Config, State: d.State, Borrowing: pick(r, cycle.AsBuilt, cycle.AsBuilt, cycle.KEP83, cycle.KEP83Lasting)}
	q.Config.Limits = nil
	w := d.Request.Workload
	for i := range 2 + r.IntN(4) {
		if i > 0 {
			w = preemptiontest.Requests(q.State).Example(seed*8 + i).Workload
		}
		w.ID = fmt.Sprintf("ns/waiting-%d", i)
		w.Queued = minutesBefore(r, 40)
		q.Waiting = append(q.Waiting, w)
	}
	for i := range 2 + r.IntN(3) {
		q.At = append(q.At, preemptiontest.Now.Add(time.Duration(i*10)*time.Minute))
	}
	return q
}
