package kueue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cedesched/cede/examples/bridge"
)

// assignmentForm is the JSON of both versions.
type assignmentForm struct {
	Levels  []string `json:"levels"`
	Domains []struct {
		Values []string `json:"values"`
		Count  int64    `json:"count"`
	} `json:"domains"`
	Slices []assignmentSlice `json:"slices"`
}

type assignmentSlice struct {
	DomainCount    int           `json:"domainCount"`
	ValuesPerLevel []levelValues `json:"valuesPerLevel"`
	PodCounts      struct {
		Universal  *int64  `json:"universal"`
		Individual []int64 `json:"individual"`
	} `json:"podCounts"`
}

// levelValues are the values of a level, one for each domain: all the same, or one by one.
type levelValues struct {
	Universal  *string `json:"universal"`
	Individual *struct {
		Prefix string   `json:"prefix"`
		Suffix string   `json:"suffix"`
		Roots  []string `json:"roots"`
	} `json:"individual"`
}

// maxDomains bounds the domains of one slice.
const maxDomains = 100_000

// ReadPlaces reads a topologyAssignment: the lists of v1beta1, or the compressed slices of v1beta2. It fails
// on other fields and forms, on a domain without a value for each level, and on one without pods.
func ReadPlaces(assignment []byte) (levels []string, domains []bridge.Place, err error) {
	d := json.NewDecoder(bytes.NewReader(assignment))
	d.DisallowUnknownFields()
	var form assignmentForm
	if err := d.Decode(&form); err != nil {
		return nil, nil, err
	}
	for _, domain := range form.Domains {
		domains = append(domains, bridge.Place{Values: domain.Values, Count: domain.Count})
	}
	for _, slice := range form.Slices {
		if slice.DomainCount > maxDomains {
			return nil, nil, fmt.Errorf("a slice has %d domains", slice.DomainCount)
		}
		for i := range slice.DomainCount {
			domains = append(domains, slice.place(i))
		}
	}
	for _, place := range domains {
		if len(place.Values) != len(form.Levels) || place.Count < 1 || place.Count > maxPods {
			return nil, nil, errors.New("a domain has other than one value for each level, or no pods")
		}
	}
	return form.Levels, domains, nil
}

// place is the domain at an index of a slice.
func (s *assignmentSlice) place(i int) (out bridge.Place) {
	for _, level := range s.ValuesPerLevel {
		switch {
		case level.Universal != nil:
			out.Values = append(out.Values, *level.Universal)
		case level.Individual != nil && i < len(level.Individual.Roots):
			out.Values = append(out.Values, level.Individual.Prefix+level.Individual.Roots[i]+level.Individual.Suffix)
		}
	}
	switch {
	case s.PodCounts.Universal != nil:
		out.Count = *s.PodCounts.Universal
	case i < len(s.PodCounts.Individual):
		out.Count = s.PodCounts.Individual[i]
	}
	return out
}

// places returns where the pods of a workload that holds quota are.
func (w *Workload) places() (list []bridge.Places) {
	for _, a := range w.Status.Admission.PodSetAssignments {
		if len(a.TopologyAssignment) > 0 && string(a.TopologyAssignment) != "null" {
			list = append(list, bridge.Places{PodSet: a.Name, Assignment: a.TopologyAssignment})
		}
	}
	return list
}

// noRoom says why room on nodes cannot be asked about for a pod set; empty: it can. dropped says that
// something of its node constraints is not looked at.
func (spec *PodSet) noRoom(name string, dropped bool) string {
	r := spec.TopologyRequest
	switch {
	case r == nil:
	case r.PodSetSliceRequiredTopology != "" || len(r.SliceConstraints) > 0:
		return fmt.Sprintf("the slices of pod set %s are not looked at", name)
	case r.PodSetGroupName != "":
		return fmt.Sprintf("pod set %s shares its place with other pod sets, which is not looked at", name)
	}
	if dropped {
		return fmt.Sprintf("not everything is known of the nodes on which pod set %s may run", name)
	}
	if a := spec.Template.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.Required != nil {
		for _, term := range a.NodeAffinity.Required.Terms {
			if len(term.MatchFields) > 0 {
				return fmt.Sprintf("pod set %s asks for nodes by their fields, which is not looked at", name)
			}
		}
	}
	return ""
}
