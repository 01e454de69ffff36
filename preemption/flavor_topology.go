package preemption

// TopologyMismatch says why the topology of a flavor, or that it has none, keeps a pod set from it
// (Kueue's flavor assigner as built, with topology-aware scheduling). Zero: nothing does.
type TopologyMismatch uint8

const (
	// NoTopology: the pod set asks for a topology, and the flavor has none. (Kueue: "does not support
	// TopologyAwareScheduling".)
	NoTopology TopologyMismatch = 1 + iota
	// NoTopologyLevel: the topology of the flavor lacks the level that the pod set names. (Kueue: "does
	// not contain the requested level".)
	NoTopologyLevel
	// OnlyTopology: the flavor has a topology, and the pod set asks for none. If all flavors of the queue
	// have a topology, this is no mismatch: the pod set is placed by it. (Kueue: "supports only
	// TopologyAwareScheduling".)
	OnlyTopology
)
