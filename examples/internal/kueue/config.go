package kueue

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/preemption"
)

// ConfigGroup is the API group of Kueue's own configuration.
const ConfigGroup = "config.kueue.x-k8s.io"

// Nameless are the kinds that are read and have no name.
var Nameless = []string{"Configuration"}

// FairSharing is what the input says of fair sharing.
type FairSharing struct {
	// Known: something says whether it is on. Source is what, as in "status.fairSharing of
	// ClusterQueue a".
	Known, On  bool
	Source     string
	Strategies []preemption.FairStrategy // those of the configuration; nil for the default
}

// The sources, the surer one the higher.
const (
	fromWeight = 1 + iota
	fromStatus
	fromConfiguration
)

// share takes what a source says, unless a surer one, or an earlier one as sure, has said
// something.
func (b *Builder) share(rank int, on bool, source string) {
	if rank > b.surest {
		b.surest, b.c.Sharing = rank, FairSharing{Known: true, On: on, Source: source}
	}
}

// noteSharing takes what a queue or cohort says: Kueue writes the status with fair sharing
// alone; a weight is a sign, for without it weights mean nothing.
func (b *Builder) noteSharing(where string, spec *fairSharing, status *queueStatus) {
	if status.FairSharing != nil {
		b.share(fromStatus, true, "status.fairSharing of "+where)
	}
	if spec.Weight != nil {
		b.share(fromWeight, true, "the weight of "+where)
	}
}

type configuration struct {
	APIVersion  string `json:"apiVersion"`
	Kind        string `json:"kind"`
	FairSharing *struct {
		Enable     *bool    `json:"enable"`
		Strategies []string `json:"preemptionStrategies"`
	} `json:"fairSharing"`
	AdmissionFairSharing *struct{} `json:"admissionFairSharing"`
}

// addConfiguration reads a Configuration: v1beta1 has a switch for fair sharing, of which the
// default is off; in v1beta2 the section itself is the switch.
func (b *Builder) addConfiguration(where string, c *configuration) error {
	on := c.FairSharing != nil
	if on && c.FairSharing.Enable != nil {
		on = *c.FairSharing.Enable
	} else if strings.HasSuffix(c.APIVersion, "/v1beta1") {
		on = false
	}
	var strategies []preemption.FairStrategy
	if on {
		for _, name := range c.FairSharing.Strategies {
			var s preemption.FairStrategy
			if err := s.UnmarshalText([]byte(name)); err != nil {
				return fmt.Errorf("fairSharing.preemptionStrategies: %w", err)
			}
			strategies = append(strategies, s)
		}
	}
	b.share(fromConfiguration, on, where)
	if b.c.Sharing.Source == where {
		b.c.Sharing.Strategies = strategies
	}
	if c.AdmissionFairSharing != nil {
		b.warn("%s: admissionFairSharing is not looked at: victims are not ordered by the usage of their LocalQueues", where)
	}
	return nil
}

// configurationIn reads the Configuration in a ConfigMap; ok is false where there is none.
func configurationIn(o *input.Object) (c configuration, ok bool, err error) {
	var data map[string]string
	if err := o.Field("data", &data); err != nil {
		return c, false, nil // some other's
	}
	for _, key := range []string{"controller_manager_config.yaml", "controller_manager_config.yml", "config.yaml"} {
		if text := data[key]; strings.Contains(text, ConfigGroup+"/") {
			err := yaml.Unmarshal([]byte(text), &c)
			return c, true, err
		}
	}
	return c, false, nil
}

// configurationOf reads an object that is a Configuration.
func configurationOf(o *input.Object) (c configuration, err error) {
	fields := map[string]json.RawMessage{}
	for _, name := range []string{"fairSharing", "admissionFairSharing"} {
		if data := o.Fields[name]; data != nil {
			fields[name] = data
		}
	}
	data, err := json.Marshal(fields)
	if err == nil {
		err = input.Decode("", data, &c)
	}
	c.APIVersion, c.Kind = o.APIVersion, o.Kind
	return c, err
}
