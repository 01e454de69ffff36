package foreign

import (
	"encoding/json"
	"time"

	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/workload"
)

// groupCase is a decision about pod groups as kube-scheduler v1.37 makes it, from its tests or of generated clusters.
type groupCase struct {
	Suite  string `json:"suite"`
	Source struct {
		Repo    string `json:"repo"`
		Version string `json:"version"`
		Test    string `json:"test"`
	} `json:"source"`
	Input    groupInput `json:"input"`
	Want     groupWant  `json:"want"`
	Observed struct {
		Pods map[string]struct {
			Node string `json:"node"`
		} `json:"pods"`
	} `json:"observed"` // the end of one whole run
}

type groupInput struct {
	Composite *bool       `json:"composite_enabled"`
	Groups    *bool       `json:"groups_enabled"`
	Nodes     []groupNode `json:"nodes"`
	Pods      []groupPod  `json:"pods"`
	List      []podGroup  `json:"groups"`
	Budgets   []struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Selector  map[string]string `json:"selector"`
		Allowed   int64             `json:"allowed"`
		Disrupted []string          `json:"disrupted"`
	} `json:"pdbs"`
	Preemptor *struct {
		Name     string     `json:"name"`
		Priority int32      `json:"priority"`
		Policy   string     `json:"policy"`
		MinCount int        `json:"min_count"`
		Pods     []groupPod `json:"pods"`
	} `json:"preemptor"`
	Waiting []groupPod `json:"preemptor_pods"`
	Options struct {
		Placement    string            `json:"placement"`
		Fixed        map[string]string `json:"fixed"`
		NodeScores   map[string]int64  `json:"node_scores"`
		ReserveLimit *reserveLimit     `json:"reserve_limit"`
		Then         string            `json:"then"`
		RemoveGroup  *string           `json:"remove_group_before_preemption"`
	} `json:"options"`
	Units []struct {
		Pods []groupPod `json:"pods"`
	} `json:"units"`
	A        *groupUnit     `json:"a"`
	B        *groupUnit     `json:"b"`
	Pod      *groupPod      `json:"pod"`
	Group    *podGroup      `json:"group"`
	Start    *podGroup      `json:"start"`
	StopAt   string         `json:"stop_at"`
	Gates    map[string]any `json:"gates"`
	Priority int32          `json:"priority"`
	Resizing *groupPod      `json:"resizing"`
	Steps    []step         `json:"steps"`
}

type groupNode struct {
	Name          string             `json:"name"`
	Capacity      workload.Resources `json:"capacity"`
	Labels        map[string]string  `json:"labels"`
	DisableResize []string           `json:"disable_resize_preemption"`
	Taints        []taint            `json:"taints"`
}

type groupPod struct {
	Name             string             `json:"name"`
	Namespace        string             `json:"namespace"`
	Node             string             `json:"node"`
	Group            string             `json:"group"`
	Priority         int32              `json:"priority"`
	Requests         workload.Resources `json:"requests"`
	Allocated        workload.Resources `json:"allocated"`
	Labels           map[string]string  `json:"labels"`
	Start            start              `json:"start"`
	Terminating      bool               `json:"terminating"`
	NominatedNode    string             `json:"nominated_node"`
	PreemptionPolicy string             `json:"preemption_policy"`
	Policy           string             `json:"policy"`
	Selector         map[string]string  `json:"node_selector"`
	Affinity         affinity           `json:"affinity"`
	Spread           []spread           `json:"topology_spread"`
	Containers       []container        `json:"containers"`
	PodLevel         struct {
		Requests workload.Resources `json:"requests"`
	} `json:"pod_level_resources"`
	Tolerations []toleration `json:"tolerations"`
	Conditions  []struct {
		Type   string `json:"type"`
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"conditions"`
}

// podGroup is a PodGroup or a CompositePodGroup.
type podGroup struct {
	Kind             string `json:"kind"`
	Name             string `json:"name"`
	Namespace        string `json:"namespace"`
	Parent           string `json:"parent"`
	Priority         int32  `json:"priority"`
	Mode             string `json:"mode"`
	Policy           string `json:"policy"`
	MinCount         int    `json:"min_count"`
	MinGroupCount    int    `json:"min_group_count"`
	PreemptionPolicy string `json:"preemption_policy"`
	Constraints      struct {
		Topology []struct {
			Key string `json:"key"`
		} `json:"topology"`
	} `json:"constraints"`
}

// groupUnit is a unit in the suite of importance.
type groupUnit struct {
	Kind     string `json:"kind"`
	Priority int32  `json:"priority"`
	Size     int    `json:"size"`
	Start    start  `json:"start"`
}

type groupWant struct {
	Outcome       string             `json:"outcome"`
	Victims       []string           `json:"victims"`
	Violations    *int               `json:"violations"`
	Disruptions   *int               `json:"group_disruptions"`
	Nominated     *map[string]string `json:"nominated"`
	Units         []groupUnitWant    `json:"units"`
	Violating     []int              `json:"violating"`
	Counts        []int              `json:"counts"`
	NonViolating  []int              `json:"non_violating"`
	MoreImportant *bool              `json:"a_more_important"`
	HasAll        *bool              `json:"has_all"`
	Unit          podGroup           `json:"unit"`
	Nodes         []string           `json:"nodes"`
	Error         bool               `json:"error"`
	Policy        string             `json:"policy"`
	Eligible      *bool              `json:"eligible"`
	Priority      *int32             `json:"priority"`
	Terminating   *bool              `json:"terminating_by_preemption"`
	Visited       []podGroup         `json:"visited"`
	Preempted     []string           `json:"preempted"`
	Scheduled     []string           `json:"scheduled"`
	Unschedulable []string           `json:"unschedulable"`
	Checks        []check            `json:"checks"`
	within        []recorded.Within
}

type groupUnitWant struct {
	Pods      []string `json:"pods"`
	Nodes     []string `json:"nodes"`
	Priority  int32    `json:"priority"`
	Violating int      `json:"violating"`
}

// start is a number, of which a larger one is later, or a time.
type start struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *start) UnmarshalJSON(data []byte) error {
	var seconds int64
	if json.Unmarshal(data, &seconds) == nil {
		s.Time = time.Unix(seconds, 0).UTC()
		return nil
	}
	return json.Unmarshal(data, &s.Time)
}
