package judge

import (
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
)

// evaluation is what the scheduler said about a workload at the end of a cycle.
type evaluation struct {
	workload string // namespace/name
	admitted bool
	gated    bool // a closed gate keeps it from preempting
	held     bool // it was not nominated: no flavor was tried
	skipped  bool // nobody is told to stop: it would not fit without those that it names
	message  string
	targets  []string // whom it preempts

	assignment flavorassigner.Assignment
	queue      string // its ClusterQueue
	before     int    // how many were admitted before it
}

// ear hears the scheduler by its log, which says of each workload of a cycle which flavors it was assigned and whom it
// preempts. No object says that.
type ear struct {
	evaluations chan *evaluation
	heard       *heard
	values      []any
}

// heard is what the loggers of a scheduler have heard, together.
type heard struct {
	sync.Mutex
	nominated map[string]bool
}

func newEar() *ear {
	return &ear{evaluations: make(chan *evaluation, 100), heard: &heard{nominated: map[string]bool{}}}
}

// The messages of Kueue's scheduler that are listened to, and the level that they need.
const (
	attempts  = "Attempting to schedule workload"
	evaluated = "Workload evaluated for admission"
	blocked   = "Waiting for all admitted workloads to be in the PodsReady condition"
	verbosity = 5
)

func (e *ear) Init(logr.RuntimeInfo) {}

func (e *ear) Enabled(level int) bool { return level <= verbosity }

func (e *ear) Error(error, string, ...any) {}

func (e *ear) WithName(string) logr.LogSink { return e }

func (e *ear) WithValues(values ...any) logr.LogSink {
	return &ear{e.evaluations, e.heard, append(e.values[:len(e.values):len(e.values)], values...)}
}

func (e *ear) Info(_ int, message string, values ...any) {
	if message != attempts && message != evaluated && message != blocked {
		return
	}
	values = append(e.values[:len(e.values):len(e.values)], values...)
	said := map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		if key, is := values[i].(string); is {
			said[key] = values[i+1]
		}
	}
	of, _ := said["workload"].(klog.ObjectRef)
	found := &evaluation{workload: of.String()}
	e.heard.Lock()
	defer e.heard.Unlock()
	switch message {
	case attempts:
		e.heard.nominated[found.workload] = true
		return
	case blocked:
		found.held, found.message = true, "it waits until the pods of all admitted workloads are ready (waitForPodsReady.blockAdmission)"
	case evaluated:
		found.message, _ = said["reason"].(string)
		found.assignment, _ = said["nominatedAssignment"].(flavorassigner.Assignment)
		targets, _ := said["preempted"].([]klog.ObjectRef)
		for _, t := range targets {
			found.targets = append(found.targets, t.String())
		}
		status := fmt.Sprint(said["status"])
		found.admitted, found.gated = status == "assumed", status == "preemptionGated"
		found.skipped = status == "skipped"
		found.held = !e.heard.nominated[found.workload]
	}
	select {
	case e.evaluations <- found:
	default: // nobody listens any more
	}
}
