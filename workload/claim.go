package workload

import (
	"maps"

	"github.com/cedesched/cede/internal/base/fault"
)

// MaxClaimed limits what a claim takes of one resource.
const MaxClaimed = 1 << 40

// Claim is an amount of devices that one pod holds, or several together ([Pod.Claims]): a ResourceClaim of Kubernetes, counted by
// what the caller names, as a class or a driver. It takes its amounts once on a node, from the first of its pods there until the last has left. The zero value is
// invalid.
type Claim struct {
	// ID names the claim, for instance "namespace/name". It is unique.
	ID string `json:"id"`
	// Requests is what the claim takes of a node, in units of [Node.Capacity].
	Requests Resources `json:"requests,omitempty"`
}

// Clone returns a copy that shares nothing with c.
func (c Claim) Clone() Claim {
	c.Requests = maps.Clone(c.Requests)
	return c
}

// Validate returns everything that is wrong with the claim, as an error that lists each fault with its path under the given
// one: an empty ID, amounts that are negative, over [MaxClaimed], without a name or for [PodsResource].
func (c *Claim) Validate(path string) error {
	var faults fault.List
	if c.ID == "" {
		faults.Add(path+".id", "is empty")
	}
	c.Requests.validate(&faults, path+".requests")
	for _, name := range c.Requests.over(MaxClaimed) {
		faults.Add(path+".requests."+name, "%d is more than 2^40", c.Requests[name])
	}
	if _, ok := c.Requests[PodsResource]; ok {
		faults.Add(path+".requests."+PodsResource, "every pod takes one of it: it cannot be requested")
	}
	return faults.Err()
}
