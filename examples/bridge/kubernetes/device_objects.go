package kubernetes

import "github.com/cedesched/cede/examples/bridge"

// DeviceClass is the object of group resource.k8s.io.
type DeviceClass struct {
	Metadata bridge.Metadata `json:"metadata"`
	Spec     DeviceClassSpec `json:"spec"`
}

// DeviceClassSpec is the spec of a DeviceClass.
type DeviceClassSpec struct {
	Selectors            []DeviceSelector `json:"selectors"`
	ExtendedResourceName string           `json:"extendedResourceName"` // empty: it stands for no extended resource
}

// DeviceSelector selects devices.
type DeviceSelector struct {
	CEL struct {
		Expression string `json:"expression"` // only the name of the driver is read
	} `json:"cel"`
}

// ResourceSlice is the object of group resource.k8s.io: devices of a driver.
type ResourceSlice struct {
	Metadata bridge.Metadata   `json:"metadata"`
	Spec     ResourceSliceSpec `json:"spec"`
}

// ResourceSliceSpec is the spec of a ResourceSlice.
type ResourceSliceSpec struct {
	Driver   string `json:"driver"`
	NodeName string `json:"nodeName"` // empty: the devices are not of one node
	Pool     struct {
		Name       string `json:"name"`
		Generation int64  `json:"generation"` // only slices of the latest count
	} `json:"pool"`
	Devices []Device `json:"devices"`
}

// Device is a device of a slice. Of what is not modelled only the presence is read.
type Device struct {
	ConsumesCounters         []struct{} `json:"consumesCounters"` // it is a partition of another one
	AllowMultipleAllocations bool       `json:"allowMultipleAllocations"`
	Taints                   []struct{} `json:"taints"`
}

// ResourceClaim is the object of group resource.k8s.io.
type ResourceClaim struct {
	Metadata bridge.Metadata     `json:"metadata"`
	Spec     ResourceClaimSpec   `json:"spec"`
	Status   ResourceClaimStatus `json:"status"`
}

// ResourceClaimSpec is the spec of a ResourceClaim.
type ResourceClaimSpec struct {
	Devices struct {
		Requests    []DeviceRequest `json:"requests"`
		Constraints []struct{}      `json:"constraints"` // only whether there are some
	} `json:"devices"`
}

// DeviceRequest asks for devices: for so many of a class, or for the first list that can be had.
type DeviceRequest struct {
	Exactly        *ExactDeviceRequest `json:"exactly"`
	FirstAvailable []struct{}          `json:"firstAvailable"` // only whether there are some
}

// ExactDeviceRequest asks for devices of a class.
type ExactDeviceRequest struct {
	DeviceClassName string     `json:"deviceClassName"`
	Selectors       []struct{} `json:"selectors"`      // only whether there are some
	Capacity        *struct{}  `json:"capacity"`       // a share of a device: only whether it asks for one
	AllocationMode  string     `json:"allocationMode"` // All, or ExactCount (or empty)
	Count           int64      `json:"count"`          // zero: one
	AdminAccess     bool       `json:"adminAccess"`    // the devices stay free for others
}

// ResourceClaimStatus is the status of a ResourceClaim.
type ResourceClaimStatus struct {
	Allocation *struct {
		Devices struct {
			Results []AllocatedDevice `json:"results"`
		} `json:"devices"`
	} `json:"allocation"` // nil: it has no devices yet
}

// AllocatedDevice is a device of a claim.
type AllocatedDevice struct {
	Driver      string `json:"driver"`
	AdminAccess bool   `json:"adminAccess"`
}

func (d *DeviceClass) key() string   { return "DeviceClass " + d.Metadata.Name }
func (s *ResourceSlice) key() string { return "ResourceSlice " + s.Metadata.Name }
func (k *ResourceClaim) key() string { return "ResourceClaim " + k.Metadata.ID() }

func (d *DeviceClass) addTo(o *Objects, add bool) bool {
	return o.deviceClasses.Set(d.Metadata.Name, d, add)
}

func (s *ResourceSlice) addTo(o *Objects, add bool) bool {
	return o.slices.Set(s.Metadata.Name, s, add)
}

func (k *ResourceClaim) addTo(o *Objects, add bool) bool {
	return o.claims.Set(k.Metadata.ID(), k, add)
}
