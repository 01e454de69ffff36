package derive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue/rules"
)

func (w *world) addReplica(l *line) error {
	r := gate.Replica{Name: l.name, Since: l.ago("leavingSince"), Gates: gate.Gates{Names: []string{gate.MultiKueue}}}
	r.Progress = gate.Pending
	l.constant("is", &r.Progress)
	if name := l.text("gate"); name != "" {
		r.Gates.Names = []string{name}
	}
	if t := l.ago("signalled"); !t.IsZero() {
		r.Gates = r.Gates.Signalled(t)
	}
	if t := l.ago("cleared"); !t.IsZero() {
		r.Gates = r.Gates.Cleared(t)
	}
	if reason := l.text("reason"); reason != "" {
		r.Gates.Blocked.Reason = reason
	}
	if t := l.ago("opened"); !t.IsZero() {
		r.Gates = r.Gates.Opened(gate.MultiKueue, t)
	}
	if t := l.ago("evicted"); !t.IsZero() {
		r.Gates = r.Gates.Evicted(t)
	}
	if r.Evicted = l.ago("stale"); l.flag("held") {
		r.Gates.Names = append(r.Gates.Names, "other")
	}
	r.Lost = l.flag("lost")
	r.Offer.Victims = int(l.number("victims"))
	r.Offer.LostWork, _ = l.duration("lostWork")
	w.replicas = append(w.replicas, r)
	return l.end(true)
}

// orchestrate asks which gate is opened next.
func (w *world) orchestrate(l *line) (string, error) {
	var c gate.Config
	l.constant("order", &c.Order)
	l.constant("rules", &c.Rules)
	c.Timeout, _ = l.duration("timeout")
	c.Grace, _ = l.duration("grace")
	c.PreemptingTimeout, _ = l.duration("preemptingTimeout")
	if err := l.end(false); err != nil {
		return "", err
	}
	asked := func(replicas []gate.Replica, now time.Time) string {
		act, err := gate.Orchestrate(c, now, replicas)
		if err != nil {
			return "error: " + err.Error()
		}
		return action(moved(act, noon.Sub(now)))
	}
	out := asked(w.replicas, noon)
	routes := []route{{"shifted time", asked(moved(w.replicas, shift), noon.Add(shift))}}
	if c.Order != gate.Preference { // whose order is that of preference
		reversed := slices.Clone(w.replicas)
		slices.Reverse(reversed)
		routes = append(routes, route{"replicas the other way round", asked(reversed, noon)})
	}
	return out + disagreements(out, routes), nil
}

func action(a gate.Action) string {
	var parts []string
	if a.Open != "" {
		parts = append(parts, "open "+a.Open)
	}
	if a.Done {
		parts = append(parts, "done")
	}
	if !a.WakeAt.IsZero() {
		parts = append(parts, "wake up at "+clock(a.WakeAt))
	}
	if len(parts) == 0 {
		return "nothing to do\n"
	}
	return fmt.Sprintln(strings.Join(parts, ", "))
}

// stories reads the rules that files name: they are blocks of JSON in the page, so that each text
// stands once.
func stories(page string) (list []rules.Config, err error) {
	for _, part := range strings.Split(page, "```json\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		var c rules.Config
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (w *world) addRules(l *line) error {
	list, err := stories(w.page)
	if err != nil {
		return err
	}
	before := len(w.state.Rules)
	for _, c := range list {
		if c.Name == l.name {
			w.state.Rules = append(w.state.Rules, c)
		}
	}
	if l.name != "" && len(w.state.Rules) == before {
		l.fail("the page has no rules %q", l.name)
	}
	return l.end(true)
}

// observed reads since when triggers have been observed, as TRIGGER:DURATION.
func (l *line) observed() (list []rules.Observation) {
	for _, text := range l.list("observed") {
		trigger, ago, _ := strings.Cut(text, ":")
		d, err := time.ParseDuration(ago)
		if err != nil {
			l.fail("observed=%s is not TRIGGER:DURATION", text)
		}
		list = append(list, rules.Observation{Trigger: rules.Trigger(trigger), Since: noon.Add(-d)})
	}
	return list
}
