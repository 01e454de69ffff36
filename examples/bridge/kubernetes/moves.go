package kubernetes

import "encoding/json"

// mayMove returns where a running pod may go (nil: to any node), or why it stays: a pod of a daemon set, a static pod, a pod that
// no controller would create again, one with a persistent volume, which may be of its node, and one that cannot be read.
func (c *context) mayMove(p *Pod) (nodes []string, stays string) {
	_, unread := c.unread[p.key()]
	switch {
	case unread:
		return nil, "cannot be read"
	case !p.isRecreated():
		return nil, "has no controller that starts it again"
	case p.hasVolumeClaim():
		return nil, "has a persistent volume, which may be of its node"
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
	if known != nil && len(known) == 0 {
		return known, "may run on no node there is"
	}
	return known, ""
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
