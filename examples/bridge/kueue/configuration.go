package kueue

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// Configuration is Kueue's own configuration, of v1beta1 or v1beta2.
type Configuration struct {
	APIVersion           string             `json:"apiVersion"`
	FairSharing          *FairSharingConfig `json:"fairSharing"`
	AdmissionFairSharing *struct{}          `json:"admissionFairSharing"` // that there is one
	Resources            ResourcesConfig    `json:"resources"`
	WaitForPodsReady     *WaitForPodsReady  `json:"waitForPodsReady"`
	FeatureGates         map[string]bool    `json:"featureGates"`
	Origin               string             `json:"-"` // as notes name it; empty: "the Configuration"
}

// ResourcesConfig says what Kueue makes of the requests of pods.
type ResourcesConfig struct {
	ExcludeResourcePrefixes []string         `json:"excludeResourcePrefixes"` // of resources that are not looked at
	Transformations         []Transformation `json:"transformations"`
}

// Transformation turns requests for a resource into requests for others.
type Transformation struct {
	Input      string            `json:"input"`
	Strategy   string            `json:"strategy"` // Retain (or empty) keeps the input; Replace takes it away
	Outputs    map[string]Factor `json:"outputs"`  // by resource, for each unit of the input
	MultiplyBy string            `json:"multiplyBy"`
}

// Factor is a quantity that may be less than zero.
type Factor struct{ bridge.Quantity }

// UnmarshalJSON reads a quantity as text or number.
func (f *Factor) UnmarshalJSON(data []byte) error {
	text := string(data)
	if len(text) > 0 && text[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	}
	q, err := bridge.ParseQuantity(strings.TrimSpace(text))
	f.Quantity = q
	return err
}

// WaitForPodsReady says what Kueue does until the pods of what it admitted are ready.
type WaitForPodsReady struct {
	Enable            *bool `json:"enable"`         // v1beta1; in v1beta2 the section itself is the switch
	BlockAdmission    *bool `json:"blockAdmission"` // nil: true in v1beta1, false in v1beta2
	RequeuingStrategy struct {
		Timestamp string `json:"timestamp"` // Eviction (or empty), or Creation
	} `json:"requeuingStrategy"`
}

// FairSharingConfig is the switch of fair sharing.
type FairSharingConfig struct {
	Enable               *bool    `json:"enable"` // v1beta1; in v1beta2 the section itself is the switch
	PreemptionStrategies []string `json:"preemptionStrategies"`
}

// blocks reports whether nothing is admitted while something that is admitted is not ready.
func (c *Configuration) blocks() bool {
	w, old := c.WaitForPodsReady, strings.HasSuffix(c.APIVersion, "/v1beta1")
	switch {
	case w == nil || c.FeatureGates["DisableWaitForPodsReady"]:
		return false
	case old && (w.Enable == nil || !*w.Enable):
		return false
	case w.BlockAdmission != nil:
		return *w.BlockAdmission
	}
	return old
}

// Sharing returns what the configuration says about fair sharing. v1beta1 has a switch, off by default; in v1beta2 the
// section itself is the switch. It fails on strategies that no decision takes.
func (c *Configuration) Sharing() (bridge.FairSharing, error) {
	out := bridge.FairSharing{Known: true, On: c.FairSharing != nil, Source: cmp.Or(c.Origin, "the Configuration")}
	if out.On && c.FairSharing.Enable != nil {
		out.On = *c.FairSharing.Enable
	} else if strings.HasSuffix(c.APIVersion, "/v1beta1") {
		out.On = false
	}
	if !out.On {
		return out, nil
	}
	for _, name := range c.FairSharing.PreemptionStrategies {
		var s preemption.FairStrategy
		if err := s.UnmarshalText([]byte(name)); err != nil {
			return bridge.FairSharing{}, fmt.Errorf("fairSharing.preemptionStrategies: %w", err)
		}
		out.Strategies = append(out.Strategies, s)
	}
	_, err := preemption.New(preemption.Config{Sharing: preemption.Fair, Strategies: out.Strategies})
	if faults, _ := err.(preemption.Faults); len(faults) > 0 {
		return bridge.FairSharing{}, fmt.Errorf("fairSharing.preemptionStrategies: %s", faults[0].Problem)
	}
	return out, nil
}

func (c *Configuration) read() (*entry, error) {
	known, err := c.Sharing()
	return &entry{value: *c, sharing: sharing{fromConfiguration, known}}, err
}

// settings are what all configurations of the input say together; the zero value: there is none.
type settings struct {
	known bool // there is a configuration
	Configuration
}

// configure takes a configuration in. Of several the last one counts.
func (s *settings) configure(c Configuration) { s.known, s.Configuration = true, c }

// gates are feature gates of Kueue 0.19.2 on which the reading of objects depends, with their defaults.
var gates = map[string]bool{
	"AdmissionGatedBy": true, "PartialAdmission": true, "ReclaimablePods": true,
	"ConcurrentAdmission": false, "MultiKueueOrchestratedPreemption": false, "PriorityBoost": false,
}

// gate says whether a feature gate is on, and whether that is known. A gate of which nothing is said is as by default: if
// that is off, it is known only where the configuration names other gates, for then no flag of the manager can name one.
func (s *settings) gate(name string) (on, known bool) {
	if on, said := s.FeatureGates[name]; said {
		return on, true
	}
	return gates[name], gates[name] || len(s.FeatureGates) > 0
}

// transform makes of the requests of a pod what Kueue asks quota for: without the resources that it does not look at,
// then by the transformations. What they make of one resource together is never less than zero.
func (s *settings) transform(requests []quota.Amount) []quota.Amount {
	asked := bridge.ResourceList{}
	for _, r := range requests {
		if !slices.ContainsFunc(s.Resources.ExcludeResourcePrefixes, func(prefix string) bool { return strings.HasPrefix(r.Resource, prefix) }) {
			asked[r.Resource] = bridge.QuantityOf(r.Resource, r.Amount)
		}
	}
	retained, generated := maps.Clone(asked), bridge.ResourceList{}
	for _, t := range s.Resources.Transformations {
		amount, asks := asked[t.Input]
		if !asks {
			continue
		}
		if t.Strategy == "Replace" {
			delete(retained, t.Input)
		}
		if by, has := asked[t.MultiplyBy]; has && t.MultiplyBy != "" {
			amount = amount.Times(by)
		}
		for name, factor := range t.Outputs {
			generated[name] = generated[name].Add(amount.Times(factor.Quantity))
		}
	}
	for name, amount := range generated {
		if amount.Compare(bridge.Quantity{}) > 0 {
			retained[name] = retained[name].Add(amount)
		} else if _, asks := retained[name]; !asks {
			retained[name] = bridge.Quantity{}
		}
	}
	out := make([]quota.Amount, 0, len(retained))
	for _, name := range slices.Sorted(maps.Keys(retained)) {
		out = append(out, quota.Amount{Resource: name, Amount: retained[name].Amount(name)})
	}
	return out
}
