package kai

import (
	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/minruntime"
)

// doubtAll adds a doubt about every answer.
func (g *groups) doubtAll(object, path, format string, args ...any) {
	n := note(object, path, object+": "+format, args...)
	g.c.Notes, g.c.Doubts = append(g.c.Notes, n), append(g.c.Doubts, bridge.Doubt{Note: n})
}

// maybe adds a doubt about every yes.
func (g *groups) maybe(object, path, format string, args ...any) {
	n := note(object, path, object+": "+format, args...)
	g.c.Notes, g.c.Doubts = append(g.c.Notes, n), append(g.c.Doubts, bridge.Doubt{Note: n, OnlyYes: true})
}

// doubt adds a doubt about the answer about one group.
func (g *groups) doubt(of *PodGroup, about, path, format string, args ...any) {
	n := note("PodGroup "+of.Metadata.ID(), path, format, args...)
	g.c.Doubts = append(g.c.Doubts, bridge.Doubt{Note: n, Workload: about})
}

// doubtObjects says of groups and pods what makes the usage of queues and nodes uncertain.
func (g *groups) doubtObjects(o *Objects) {
	names := map[string]string{}
	for _, one := range o.groups.All() {
		id := one.Metadata.ID()
		if other := names[one.Metadata.Name]; other != "" {
			g.doubtAll("PodGroup "+id, "metadata.name", "%s has the same name, and KAI keeps groups by their names alone", other)
		}
		names[one.Metadata.Name] = id
	}
	for _, p := range g.pods {
		object, group := "Pod "+p.Metadata.ID(), p.group()
		switch {
		case p.ended() || group == "":
		case p.isForeign():
			g.doubtAll(object, "spec.schedulerName", "it is of a PodGroup and of the scheduler %s", p.Spec.SchedulerName)
		case o.HasGroup(group):
		case p.Holds():
			g.doubtAll(object, "metadata.annotations["+GroupAnnotation+"]", "the PodGroup %s is not in the input: whose quota it takes is not known", group)
		default:
			g.doubtAll(object, "metadata.annotations["+GroupAnnotation+"]", "the PodGroup %s is not in the input: in whose queue it waits is not known", group)
		}
		if p.ended() || group == "" {
			continue
		}
		for _, a := range requestsOf(p) {
			if isSlice(a.Resource) {
				g.doubtAll(object, "spec.containers[].resources.requests", "it takes a slice of a GPU (%s), which is not modelled", a.Resource)
			}
		}
	}
}

// minRuntimes returns the minimum runtimes where no queue sets one. It doubts all answers if there are two schedulers that have others.
func (g *groups) minRuntimes(o *Objects) (of minruntime.Settings) {
	for i, s := range o.shards.All() {
		min, object := &s.Spec.MinRuntime, "SchedulingShard "+s.Metadata.Name
		one := minruntime.Settings{Preempt: notNegative(g.c, object, "spec.minRuntime.preemptMinRuntime", min.PreemptMinRuntime),
			Reclaim: notNegative(g.c, object, "spec.minRuntime.reclaimMinRuntime", min.ReclaimMinRuntime)}
		if i > 0 && one != of {
			g.doubtAll(object, "spec.minRuntime", "it has other minimum runtimes than another SchedulingShard")
		}
		of = one
	}
	return of
}
