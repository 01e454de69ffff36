package serve

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Edit is a change of the cluster. Exactly one of the fields is set.
type Edit struct {
	Admit         *workload.Workload `json:"admit,omitempty"`         // it holds its quota, in place of the one with its ID
	Remove        *Part              `json:"remove,omitempty"`        // it has left
	StartEviction *Part              `json:"startEviction,omitempty"` // it is told to stop
	SetQueue      *queue.Queue       `json:"setQueue,omitempty"`      // in place of that of its name, or a new one
	RemoveQueue   *string            `json:"removeQueue,omitempty"`
	SetCohort     *queue.Cohort      `json:"setCohort,omitempty"`
	RemoveCohort  *string            `json:"removeCohort,omitempty"`
	SetFlavor     *queue.Flavor      `json:"setFlavor,omitempty"`
	RemoveFlavor  *string            `json:"removeFlavor,omitempty"`
	SetRules      *rules.Config      `json:"setRules,omitempty"`
	RemoveRules   *string            `json:"removeRules,omitempty"`
	SetUsage      *Usage             `json:"setUsage,omitempty"` // what is in use in a queue in all
}

// Part is a workload, or replicas of it: what a victim says of itself.
type Part struct {
	Workload string                `json:"workload"`
	Replicas []preemption.Replicas `json:"replicas,omitempty"` // none: the whole workload
}

// Usage is what is in use in a queue in all, as the caller counts it.
type Usage struct {
	Queue string         `json:"queue"`
	Usage []quota.Amount `json:"usage"`
}

// edit returns the edit, or what is wrong with it.
func (e *Edit) edit() (edit preemption.Edit, problem string) {
	v := reflect.ValueOf(e).Elem()
	var names, set []string
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if names = append(names, name); !v.Field(i).IsNil() {
			set = append(set, name)
		}
	}
	if len(set) != 1 {
		return edit, fmt.Sprintf("has %d changes, want one of %s", len(set), strings.Join(names, ", "))
	}
	switch {
	case e.Admit != nil:
		return preemption.Admit(*e.Admit), ""
	case e.Remove != nil:
		return preemption.Remove(e.Remove.Workload, e.Remove.Replicas...), ""
	case e.StartEviction != nil:
		return preemption.StartEviction(e.StartEviction.Workload, e.StartEviction.Replicas...), ""
	case e.SetQueue != nil:
		return preemption.SetQueue(*e.SetQueue), ""
	case e.RemoveQueue != nil:
		return preemption.RemoveQueue(*e.RemoveQueue), ""
	case e.SetCohort != nil:
		return preemption.SetCohort(*e.SetCohort), ""
	case e.RemoveCohort != nil:
		return preemption.RemoveCohort(*e.RemoveCohort), ""
	case e.SetFlavor != nil:
		return preemption.SetFlavor(*e.SetFlavor), ""
	case e.RemoveFlavor != nil:
		return preemption.RemoveFlavor(*e.RemoveFlavor), ""
	case e.SetRules != nil:
		return preemption.SetRules(*e.SetRules), ""
	case e.RemoveRules != nil:
		return preemption.RemoveRules(*e.RemoveRules), ""
	}
	return preemption.SetUsage(e.SetUsage.Queue, e.SetUsage.Usage), ""
}
