package derive

import (
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// noon is the time of all files: other times are given as before it.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world holds what the lines of a case have stated so far.
type world struct {
	page string // with the rules that lines name

	state  preemption.State
	config preemption.Config

	nodes       placement.State
	nodesConfig placement.Config
	sampling    placement.Request // MaxDomains and FirstNode of every request

	replicas []gate.Replica
}

func (w *world) clone() *world {
	c := *w
	c.state.Cohorts, c.state.Queues = clip(w.state.Cohorts), clip(w.state.Queues)
	c.state.Flavors, c.state.Admitted = clip(w.state.Flavors), clip(w.state.Admitted)
	c.state.Rules = clip(w.state.Rules)
	c.nodes.Nodes, c.nodes.Pods, c.nodes.Nominated = clip(w.nodes.Nodes), clip(w.nodes.Pods), clip(w.nodes.Nominated)
	c.nodes.Groups, c.nodes.Budgets = clip(w.nodes.Groups), clip(w.nodes.Budgets)
	c.replicas = clip(w.replicas)
	return &c
}

// clip makes the next append copy.
func clip[E any](list []E) []E { return list[:len(list):len(list)] }

// verbs are the lines that state something.
var verbs = map[string]func(*world, *line) error{
	"config":  (*world).addConfig,
	"cohort":  (*world).addCohort,
	"queue":   (*world).addQueue,
	"rules":   (*world).addRules,
	"running": (*world).addRunning,
	"node":    (*world).addNode,
	"group":   (*world).addGroup,
	"pod":     (*world).addPod,
	"promise": (*world).addPromise,
	"budget":  (*world).addBudget,
	"replica": (*world).addReplica,
}

// questions are the lines that ask.
var questions = map[string]func(*world, *line) (string, error){
	"ask":         (*world).ask,
	"check":       (*world).check,
	"place":       (*world).place,
	"orchestrate": (*world).orchestrate,
}
