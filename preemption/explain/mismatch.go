package explain

import (
	"fmt"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/workload"
)

// mismatch says why pods may not run on a flavor: a sentence without full stop in which it is the flavor.
func mismatch(m *preemption.Mismatch) string {
	if t := m.Taint; t != nil {
		taint := t.Key
		if t.Value != "" {
			taint += "=" + t.Value
		}
		return fmt.Sprintf("its taint %s:%v is not tolerated", taint, t.Effect)
	}
	switch m.Topology {
	case preemption.NoTopology:
		return "the pods ask for a topology, and the flavor does not support topology-aware scheduling"
	case preemption.NoTopologyLevel:
		return fmt.Sprintf("its topology does not have the level %s that the pods ask for", m.Level)
	case preemption.OnlyTopology:
		return "it supports only topology-aware scheduling, and the pods ask for no topology"
	}
	r := m.Requirement
	want := fmt.Sprintf("%s %v", r.Key, r.Operator)
	if len(r.Values) > 0 {
		want += " " + strings.Join(r.Values, ", ")
	}
	if r.Operator == workload.In && len(r.Values) == 1 {
		want = r.Key + "=" + r.Values[0]
	}
	if m.Label == "" {
		return fmt.Sprintf("the pods want nodes with %s", want)
	}
	return fmt.Sprintf("the pods want nodes with %s; its nodes have %s=%s", want, r.Key, m.Label)
}
