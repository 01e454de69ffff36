package gate

import (
	"fmt"
	"slices"
	"time"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/internal/base/instant"
)

// check returns everything that is wrong with the arguments of [Orchestrate].
func check(c *Config, now time.Time, replicas []Replica) error {
	var faults fault.List
	if len(c.Gate) > MaxName {
		faults.Add("config.Gate", "%q is longer than %d bytes", c.Gate, MaxName)
	}
	switch {
	case c.Timeout == writtenZero:
		faults.Add("config.Timeout", "0s was written down: want more than 0")
	case c.Timeout < 0:
		faults.Add("config.Timeout", "%v is negative", c.Timeout)
	}
	if c.PreemptingTimeout < 0 {
		faults.Add("config.PreemptingTimeout", "%v is negative", c.PreemptingTimeout)
	}
	if c.Grace < 0 {
		faults.Add("config.Grace", "%v is negative", c.Grace)
	}
	if c.Order > Cheapest {
		faults.Add("config.Order", "%v is unknown", c.Order)
	}
	if c.Rules > Kueue019 {
		faults.Add("config.Rules", "%v is unknown", c.Rules)
	}
	if c.Rules == Kueue019 && (c.Order != FirstSignal || c.Grace != 0 || c.PreemptingTimeout != 0) {
		faults.Add("config.Rules", "%v has no other order than FirstSignal, no grace and no preempting timeout", c.Rules)
	}
	if now.IsZero() {
		faults.Add("now", "is not set")
	} else if !instant.Valid(now) {
		faults.Add("now", "%v is not within %s", now, instant.Range)
	}
	checkReplicas(&faults, replicas)
	return faults.Err()
}

func checkReplicas(faults *fault.List, replicas []Replica) {
	names := make([]string, 0, len(replicas))
	for i := range replicas {
		r, path := &replicas[i], fmt.Sprintf("replicas[%d]", i)
		if r.Name == "" {
			faults.Add(path+".name", "is empty")
		} else {
			names = append(names, r.Name)
		}
		if err, bad := Validate(path+".gates", r.Gates).(fault.List); bad {
			*faults = append(*faults, err...)
		}
		if r.Progress > Preempting {
			faults.Add(path+".progress", "%d is unknown", r.Progress)
		}
		validateTime(faults, path+".since", r.Since, r.Progress == Preempting)
		validateTime(faults, path+".evicted", r.Evicted, false)
		if lost, _ := r.Offer.Lost.Get(); lost < 0 {
			faults.Add(path+".offer", "%d is lost: negative", lost)
		}
		if r.Offer.Victims < 0 || r.Offer.LostWork < 0 {
			faults.Add(path+".offer", "%d victims, %v of work: negative", r.Offer.Victims, r.Offer.LostWork)
		}
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] && (i == 1 || names[i] != names[i-2]) {
			faults.Add("replicas", "two are named %q", names[i])
		}
	}
}
