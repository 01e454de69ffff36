package main

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/cedesched/cede/examples/kubescheduler/mirror"
)

// sysctls are those that the kubelet takes on every kernel that Kubernetes runs on. It knows more, by the version of the kernel.
var sysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
}

// kubelet doubts what the scheduler does not look at, and the kubelet of the node may refuse.
func (f *finder) kubelet(p *v1.Pod, node *v1.Node) {
	id := "Pod " + mirror.ID(p)
	if os := p.Spec.OS; os != nil && string(os.Name) != system(node) {
		f.doubt("spec.os.name", "%s: spec.os.name is %s, and the kubelet of Node %s refuses a pod of another system than its own, %q", id, os.Name, node.Name, system(node))
	}
	if want := p.Labels[v1.LabelOSStable]; want != "" && want != system(node) {
		f.doubt("metadata.labels "+v1.LabelOSStable, "%s: its label %s is %s, and the kubelet of Node %s refuses a pod of another system than its own, %q",
			id, v1.LabelOSStable, want, node.Name, system(node))
	}
	s := p.Spec.SecurityContext
	if s == nil {
		return
	}
	supports := node.Status.Features != nil && node.Status.Features.SupplementalGroupsPolicy != nil && *node.Status.Features.SupplementalGroupsPolicy
	if s.SupplementalGroupsPolicy != nil && *s.SupplementalGroupsPolicy == v1.SupplementalGroupsPolicyStrict && !supports {
		f.doubt("spec.securityContext.supplementalGroupsPolicy",
			"%s: spec.securityContext.supplementalGroupsPolicy is Strict, and the kubelet of Node %s, which does not say that it supports that, refuses it", id, node.Name)
	}
	for _, one := range s.Sysctls {
		name := strings.ReplaceAll(one.Name, "/", ".")
		shared := strings.HasPrefix(name, "net.") && p.Spec.HostNetwork || strings.HasPrefix(name, "kernel.") && p.Spec.HostIPC
		if shared || !slices.Contains(sysctls, name) {
			f.doubt("spec.securityContext.sysctls", "%s: spec.securityContext.sysctls has %s, which the kubelet of Node %s may refuse", id, one.Name, node.Name)
		}
	}
}

// system is the operating system of a node, as its kubelet says.
func system(n *v1.Node) string {
	if os := n.Status.NodeInfo.OperatingSystem; os != "" {
		return os
	}
	return n.Labels[v1.LabelOSStable]
}
