package kubernetes

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/workload"
)

// Devices are counted by driver: all devices of a driver on a node are alike. That is what claims of whole devices need whose
// class names the driver and nothing else. Attributes, partitions, devices that several claims share, and devices of no single
// node are not modelled: each is a doubt.

// devices is what is known of devices.
type devices struct {
	classes  map[string]*DeviceClass
	extended map[string]string // the resource of devices by extended resource that no node has itself
	claims   map[string]*ResourceClaim
	problems map[string][]string // what is not known of a claim without devices, by ID
}

// resourceOf is the resource that counts the devices of a driver.
func resourceOf(driver string) string { return driver + "/devices" }

// driverOnly is a selector that names the driver, and whether there is more.
var driverOnly = regexp.MustCompile(`^\s*device\.driver\s*==\s*["']([^"']+)["']\s*(.*)$`)

// driver returns the driver of a class. The text says what is not known of it.
func (d *DeviceClass) driver() (driver, problem string) {
	if len(d.Spec.Selectors) == 0 {
		return "", "it has no selector, so its driver is not known"
	}
	found := driverOnly.FindStringSubmatch(d.Spec.Selectors[0].CEL.Expression)
	switch {
	case found == nil:
		return "", "its selector does not begin with the name of the driver"
	case found[2] != "" || len(d.Spec.Selectors) > 1:
		return found[1], "its selectors ask for more than the driver"
	}
	return found[1], ""
}

// addDevices adds the devices to the nodes, and the claims that pods may hold.
func (c *context) addDevices(o *Objects) {
	d := &c.devices
	*d = devices{map[string]*DeviceClass{}, map[string]string{}, map[string]*ResourceClaim{}, map[string][]string{}}
	latest := map[[2]string]int64{}
	for _, s := range o.slices.All() {
		pool := [2]string{s.Spec.Driver, s.Spec.Pool.Name}
		latest[pool] = max(latest[pool], s.Spec.Pool.Generation)
	}
	for _, s := range o.slices.All() {
		c.doubtUnread(s.key(), s.Spec.NodeName)
		if s.Spec.Pool.Generation == latest[[2]string{s.Spec.Driver, s.Spec.Pool.Name}] {
			c.addSlice(s)
		}
	}
	for _, class := range o.deviceClasses.All() {
		c.doubtUnread(class.key(), "")
		d.classes[class.Metadata.Name] = class
		name := class.Spec.ExtendedResourceName
		own := func(n workload.Node) bool { return n.Capacity[name] > 0 }
		if driver, _ := class.driver(); name != "" && driver != "" && !slices.ContainsFunc(c.out.State.Nodes, own) {
			d.extended[name] = resourceOf(driver)
		}
	}
	for _, k := range o.claims.All() {
		d.claims[k.Metadata.ID()] = k
		takes, problems := c.takes(k)
		c.out.State.Claims = append(c.out.State.Claims, workload.Claim{ID: k.Metadata.ID(), Requests: takes})
		d.problems[k.Metadata.ID()] = problems
		c.doubtUnread(k.key(), "")
	}
}

// addSlice adds the devices of a slice to its node.
func (c *context) addSlice(s *ResourceSlice) {
	at := slices.IndexFunc(c.out.State.Nodes, func(n workload.Node) bool { return n.Name == s.Spec.NodeName })
	if at < 0 {
		c.warn(s.key(), "spec.nodeName", "its %d devices are of no node in the input: left out", len(s.Spec.Devices))
		return
	}
	n := &c.out.State.Nodes[at]
	n.Capacity[resourceOf(s.Spec.Driver)] += int64(len(s.Spec.Devices))
	odd := func(of Device) bool {
		return len(of.ConsumesCounters)+len(of.Taints) > 0 || of.AllowMultipleAllocations
	}
	if slices.ContainsFunc(s.Spec.Devices, odd) {
		text := fmt.Sprintf("%s: partitions, shares and taints of devices are not looked at: each counts as one device", s.key())
		c.doubt(bridge.Doubt{Node: n.Name}, s.key(), "%s", text)
	}
}

// takes returns how many devices a claim takes, by driver, and what is not known of it.
func (c *context) takes(k *ResourceClaim) (takes workload.Resources, problems []string) {
	takes = workload.Resources{}
	if k.Status.Allocation != nil {
		for _, of := range k.Status.Allocation.Devices.Results {
			if !of.AdminAccess {
				takes[resourceOf(of.Driver)]++
			}
		}
		return takes, nil
	}
	if len(k.Spec.Devices.Constraints) > 0 {
		problems = append(problems, "spec.devices.constraints are not looked at")
	}
	for i, r := range k.Spec.Devices.Requests {
		path := fmt.Sprintf("spec.devices.requests[%d]", i)
		if r.Exactly == nil || r.Exactly.AllocationMode == "All" {
			problems = append(problems, path+" does not ask for a number of devices")
			continue
		}
		class, known := c.devices.classes[r.Exactly.DeviceClassName]
		if !known {
			problems = append(problems, fmt.Sprintf("%s: DeviceClass %q is not in the input", path, r.Exactly.DeviceClassName))
			continue
		}
		driver, problem := class.driver()
		if problem == "" && (len(r.Exactly.Selectors) > 0 || r.Exactly.Capacity != nil) {
			problem = "the request asks for more than a number of devices"
		}
		if problem != "" {
			problems = append(problems, fmt.Sprintf("%s, DeviceClass %s: %s", path, class.Metadata.Name, problem))
		}
		if driver != "" && !r.Exactly.AdminAccess {
			takes[resourceOf(driver)] += min(max(1, r.Exactly.Count), workload.MaxClaimed)
		}
	}
	return takes, problems
}

// claims returns the claims of a pod that are in the input, and those that are not.
func (c *context) claimsOf(p *Pod) (ids, missing []string) {
	for _, of := range p.Spec.ResourceClaims {
		name := of.ResourceClaimName
		for _, s := range p.Status.ResourceClaimStatuses {
			if name == "" && s.Name == of.Name {
				name = s.ResourceClaimName
			}
		}
		id := p.Metadata.Namespace + "/" + name
		switch _, known := c.devices.claims[id]; {
		case name == "":
			missing = append(missing, of.Name)
		case !known:
			missing = append(missing, id)
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, missing
}

// asDevices changes requests for extended resources that devices stand for into requests for devices.
func (c *context) asDevices(requests workload.Resources) workload.Resources {
	for name, resource := range c.devices.extended {
		if amount := requests[name]; amount > 0 {
			delete(requests, name)
			requests[resource] += amount
		}
	}
	return requests
}
