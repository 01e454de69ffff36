package suite

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// notAsked is the part of an answer that is the answerer's own: how much work it was.
const notAsked = ""

// Paths of decisions about quota, with the part of the answer that each is.
var decisionParts = map[string]string{
	"outcome": "outcome", "victims.workload": "victims", "victims.queue": "victims", "victims.replicas": "victims", "victims.leaving": "victims",
	"victims.reason": "reasons", "victims.cohort": "reasons", "victims.preemptorQueued": "reasons", "victims.rules": "reasons", "victims.order": "order",
	"victims.lost": "cost", "lost": "cost", "admitted": "admitted", "replaced": "admitted", "counts": "counts",
	"borrowHeight": "borrowHeight", "assignment": "assignment", "retryAt": "retryAt", "leaving": "outcome", "triggers": "triggers", "ruleFaults": "triggers",
	"blockers": "blockers", "shortage": "shortage", "noRoom": "shortage", "proof": "proof", "proof.nodes": notAsked,
}

// Paths of decisions on nodes.
var placementParts = map[string]string{
	"outcome": "outcome", "victims.group": "victims", "victims.pods": "victims", "victims.priority": "reasons", "victims.order": "order",
	"victims.violations": "violations", "violations": "violations", "reason": "reasons", "retryAt": "retryAt", "blockers": "blockers", "shortage": "shortage",
	"withdrawn": "places", "pods": "places", "domain": "places", "nominations": "places", "placeable": "places", "now": "places",
}

// partsOf are the paths of the answers of each form.
var partsOf = func() map[string]map[string]string {
	below := func(prefix string, parts map[string]string, rest map[string]string) map[string]string {
		out := maps.Clone(rest)
		for path, part := range parts {
			out[prefix+path] = part
		}
		return out
	}
	return map[string]map[string]string{
		Decide: decisionParts, Place: placementParts,
		Orchestrate: {"Open": "outcome", "Done": "outcome", "WakeAt": "retryAt"},
		Cycles: below("cycles.heads.decision.", decisionParts, map[string]string{"cycles.heads.head.workload.id": "outcome", "cycles.heads.outcome": "outcome", "cycles.heads.reason": "reasons",
			"cycles.heads": "cycle", "cycles.heads.head": "cycle", "cycles.again": "cycle"}),
		Settle: below("", decisionParts, map[string]string{"excess": "shortage", "remaining": "shortage", "steps": "steps"}),
		Move:   below("decision.", placementParts, map[string]string{"moves": "moves", "steps": "steps", "cost": "cost", "elsewhere": "moves", "tried": notAsked}),
		Clear: below("", placementParts, map[string]string{"cleared": "victims", "moves": "moves", "steps": "steps", "cost": "cost", "lowerBound": "proof",
			"blocked": "blockers", "tried": notAsked}),
	}
}()

// Parts lists the parts of answers, sorted.
func Parts() []string {
	all := map[string]bool{}
	for _, parts := range partsOf {
		for _, part := range parts {
			all[part] = true
		}
	}
	delete(all, notAsked)
	return slices.Sorted(maps.Keys(all))
}

// Differ lists the claimed parts of two answers to a question of a form that differ, and all claimed parts that either has, sorted.
// The error is that of JSON.
func Differ(form string, want, got []byte, claimed func(part string) bool) (differ, asked []string, err error) {
	wanted, err := value(want)
	if err != nil {
		return nil, nil, err
	}
	given := wanted
	same := bytes.Equal(want, got)
	if !same {
		if given, err = value(got); err != nil {
			return nil, nil, err
		}
	}
	present := map[string]bool{"outcome": has(form, "outcome")}
	for _, v := range []any{wanted, given} {
		paths(v, "", func(path string) {
			path, _, _ = strings.Cut(path, "=")
			if of, known := longest(partsOf[form], path); known && of != notAsked {
				present[of] = true
			}
		})
		if same {
			break
		}
	}
	for _, part := range slices.Sorted(maps.Keys(present)) {
		if !present[part] || !claimed(part) {
			continue
		}
		asked = append(asked, part)
		keep := func(path string) bool {
			of, known := longest(partsOf[form], path)
			return known && of == part
		}
		if !same && !reflect.DeepEqual(only(wanted, "", keep), only(given, "", keep)) {
			differ = append(differ, part)
		}
	}
	if _, is := given.(map[string]any); !is && given != nil {
		differ = append(differ, "not an object")
	}
	slices.Sort(differ)
	return differ, asked, nil
}

// names are paths of what parts of an answer are about.
var names = []string{"victims.workload", "victims.pods", "cycles.heads.head.workload.id", "decision.victims.pods"}

// textOf is one part of an answer, as JSON in which texts are as they were, with the names of what it is about; "nothing" if it has none.
func textOf(form, part string, answer []byte) string {
	v, err := value(answer)
	if err != nil {
		return "what is not JSON"
	}
	v = only(v, "", func(path string) bool {
		of, known := longest(partsOf[form], path)
		return known && of == part || part != "outcome" && slices.Contains(names, path)
	})
	if v == nil {
		return "nothing"
	}
	data, err := json.Marshal(plain(v))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// has reports whether the answers of a form have a part.
func has(form, part string) bool {
	for _, of := range partsOf[form] {
		if of == part {
			return true
		}
	}
	return false
}

// unknownPaths lists the paths of an answer that belong to no part.
func unknownPaths(form string, answer []byte) (list []string) {
	v, _ := value(answer)
	paths(v, "", func(path string) {
		path, _, _ = strings.Cut(path, "=")
		if _, known := longest(partsOf[form], path); !known {
			list = append(list, path)
		}
	})
	return list
}
