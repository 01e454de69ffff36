package kueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/fault"
)

// The sources of facts about fair sharing; a more certain source has a higher number.
const (
	fromWeight = 1 + iota
	fromStatus
	fromConfiguration
)

// sharing is what an object says about fair sharing.
type sharing struct {
	rank int // 0: nothing
	bridge.FairSharing
}

// sharingOf returns what a queue or cohort says: Kueue writes the status only with fair
// sharing; a weight is a hint, because weights mean nothing without it. A weight of 1 is none: it is the
// default.
func sharingOf(where string, spec *FairSharing, status *QueueStatus) sharing {
	switch {
	case status.FairSharing != nil:
		return sharing{fromStatus, bridge.FairSharing{Known: true, On: true, Source: "status.fairSharing of " + where}}
	case spec.Weight != nil && spec.Weight.Float64() != 1:
		return sharing{fromWeight, bridge.FairSharing{Known: true, On: true, Source: "the weight of " + where}}
	}
	return sharing{}
}

// Sharing returns what the configuration says about fair sharing, with notes on what is left
// out. v1beta1 has a switch, off by default; in v1beta2 the section itself is the switch. It
// fails on strategies that no decision takes.
func (c *Configuration) Sharing() (bridge.FairSharing, []bridge.Note, error) {
	n := noter{object: cmp.Or(c.Origin, "the Configuration")}
	out := bridge.FairSharing{Known: true, On: c.FairSharing != nil, Source: n.object}
	if out.On && c.FairSharing.Enable != nil {
		out.On = *c.FairSharing.Enable
	} else if strings.HasSuffix(c.APIVersion, "/v1beta1") {
		out.On = false
	}
	if out.On {
		for _, name := range c.FairSharing.PreemptionStrategies {
			var s preemption.FairStrategy
			if err := s.UnmarshalText([]byte(name)); err != nil {
				return bridge.FairSharing{}, nil, fmt.Errorf("fairSharing.preemptionStrategies: %w", err)
			}
			out.Strategies = append(out.Strategies, s)
		}
		config := preemption.Config{Sharing: preemption.Fair}
		config.Fair.Strategies = out.Strategies
		_, err := preemption.New(config)
		if faults, _ := err.(fault.List); len(faults) > 0 {
			return bridge.FairSharing{}, nil, fmt.Errorf("fairSharing.preemptionStrategies: %s", faults[0].Problem)
		}
	}
	if c.AdmissionFairSharing != nil {
		n.add("admissionFairSharing", "%s: admissionFairSharing is not looked at: victims are not ordered by the usage of their LocalQueues", n.object)
	}
	if len(c.Resources.Transformations) > 0 {
		n.add("resources.transformations", "%s: resources.transformations are not looked at: requests of waiting workloads are as in their pods where the status does not say what Kueue made of them", n.object)
	}
	return out, n.notes, nil
}

func (c *Configuration) read() (*entry, error) {
	known, notes, err := c.Sharing()
	return &entry{notes: notes, sharing: sharing{fromConfiguration, known}, excluded: slices.Clone(c.Resources.ExcludeResourcePrefixes)}, err
}
