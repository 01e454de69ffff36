package plugin

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// classOfDevices is a manager that knows one class of devices, which backs an extended resource.
type classOfDevices struct{ fwk.SharedDRAManager }

func (classOfDevices) DeviceClassResolver() fwk.DeviceClassResolver { return resolver{} }

type resolver struct{}

func (resolver) GetDeviceClass(name v1.ResourceName) *resourceapi.DeviceClass {
	if name == "acme.io/gpu" {
		return new(resourceapi.DeviceClass)
	}
	return nil
}

// An extended resource that a class of devices backs is no resource of a node without it: as by
// NodeResourcesFit. On a node that has it, it is.
func TestExtendedResourceOfDevices(t *testing.T) {
	h := newHarnessWith(t, classOfDevices{})
	for _, has := range []string{"", "0", "1", "2"} {
		t.Run("the second node has "+has, func(t *testing.T) {
			var w world
			for i := range 2 {
				node := fmt.Sprintf("d%d", i)
				capacity := map[v1.ResourceName]string{"cpu": "4", "pods": "10"}
				if i == 1 && has != "" {
					capacity["acme.io/gpu"] = has
				}
				w.nodes = append(w.nodes, st.MakeNode().Name(node).Capacity(capacity).Obj())
				for j := range 4 {
					request := map[v1.ResourceName]string{"cpu": "1"}
					if i == 1 && j < 2 && has == "2" {
						request["acme.io/gpu"] = "1"
					}
					w.pods = append(w.pods, st.MakePod().Namespace("default").Name(fmt.Sprintf("low-%d-%d", i, j)).UID(fmt.Sprintf("low-%d-%d", i, j)).
						Priority(int32(j)).Node(node).Req(request).Obj())
				}
			}
			w.pod = st.MakePod().Namespace("default").Name("hi").UID("hi").Priority(1000).Req(map[v1.ResourceName]string{"cpu": "2", "acme.io/gpu": "1"}).Obj()
			h.show(t, w)
			nodes, places, tied := 0, 0, 0
			if !h.compare(t, "hi", w, &nodes, &places, &tied) || places != 2 {
				t.Errorf("preemption makes room on %d nodes, want 2", places)
			}
		})
	}
}
