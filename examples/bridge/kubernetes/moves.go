package kubernetes

import "encoding/json"

// mayMove returns where a running pod may go (nil: to any node), or that it stays: a pod of a daemon set, a static pod, a pod that
// no controller would create again, one with a persistent volume, which may be of its node, and one that cannot be read.
func (c *context) mayMove(p *Pod) (nodes []string, nowhere bool) {
	if _, unread := c.unread[p.key()]; unread || !p.isRecreated() || p.hasVolumeClaim() {
		return nil, true
	}
	key, _ := json.Marshal([]any{p.Spec.NodeSelector, p.Spec.Affinity, p.Spec.Tolerations}) // plain data: it cannot fail
	known, ok := c.mayRun[string(key)]
	if !ok {
		var err error
		known, _, err = c.feasible(p)
		if err != nil {
			known = []string{}
		}
		c.mayRun[string(key)] = known
	}
	return known, known != nil && len(known) == 0
}

// isRecreated reports whether a controller makes another such pod when it is gone, for any node.
func (p *Pod) isRecreated() bool {
	kind := p.controller()
	return kind != "" && kind != "DaemonSet" && kind != "Node"
}

// controller returns the kind of the owner that makes the pod; of a static pod that is the node.
func (p *Pod) controller() string {
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller {
			return o.Kind
		}
	}
	return ""
}

func (p *Pod) hasVolumeClaim() bool {
	for i := range p.Spec.Volumes {
		if p.Spec.Volumes[i].PersistentVolumeClaim != nil {
			return true
		}
	}
	return false
}
