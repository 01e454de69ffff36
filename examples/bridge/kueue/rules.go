package kueue

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cedesched/cede/examples/bridge"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/queue/rules"
)

// PreemptionConfig is Kueue's object of v1alpha1 (KEP-13396): preemption rules, to which a
// ClusterQueue refers by an annotation.
type PreemptionConfig struct {
	Metadata bridge.Metadata      `json:"metadata"`
	Spec     PreemptionConfigSpec `json:"spec"`
}

// PreemptionConfigSpec is that of a PreemptionConfig: [rules.Config] without name.
type PreemptionConfigSpec struct {
	rules.Config
	// Unread lists the fields that are not known, which the reader found, as "rules[0].cooldown". A rule with one is
	// left out, because without it the rule may accept more than it says.
	Unread []string `json:"-"`
}

// PreemptionLimit is Kueue's object, as KEP-13396 plans it: a limit on preemptions in a sliding
// window.
type PreemptionLimit struct {
	Metadata bridge.Metadata     `json:"metadata"`
	Spec     PreemptionLimitSpec `json:"spec"`
}

// PreemptionLimitSpec is that of a PreemptionLimit: [limits.Limit] without name.
type PreemptionLimitSpec struct {
	limits.Limit
	// Unread lists the fields that are not known, which the reader found. A limit with one is left out, because
	// without it the limit may cover more than it says.
	Unread []string `json:"-"`
}

func (p *PreemptionConfig) key() string { return "PreemptionConfig " + p.Metadata.Name }
func (p *PreemptionLimit) key() string  { return "PreemptionLimit " + p.Metadata.Name }

func (p *PreemptionConfig) read() (*entry, error) {
	config, notes := p.Rules()
	if first, more := firstFault(rules.ValidateForm("spec", []rules.Config{config})); first != "" { // no API server takes it
		return nil, fmt.Errorf("%s%s", strings.Replace(first, "spec[0].", "spec.", 1), more)
	}
	return &entry{value: config, notes: notes}, nil
}

func (p *PreemptionLimit) read() (*entry, error) {
	limit, notes, err := p.Limit()
	if err != nil || limit == nil {
		return &entry{notes: notes}, err
	}
	return &entry{value: *limit, notes: notes}, nil
}

// Rules returns the rules for a state or for preemption.SetRules, with notes on what is left out and
// on what is wrong with them: a tier with a bad selector has no candidates, as in Kueue.
func (p *PreemptionConfig) Rules() (rules.Config, []bridge.Note) {
	n := noter{object: "PreemptionConfig " + p.Metadata.Name}
	c := p.Spec.Config.Clone()
	c.Name = p.Metadata.Name
	out := map[int]string{} // the first unknown field of a rule
	for _, path := range p.Spec.Unread {
		number, _, _ := strings.Cut(strings.TrimPrefix(path, "rules["), "].")
		at, err := strconv.Atoi(number)
		if err != nil || at >= len(c.Rules) {
			n.add("spec."+path, "%s: spec.%s is not known here and changes nothing", n.object, path)
		} else {
			out[at] = cmp.Or(out[at], path)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(out)) {
		n.add("spec."+out[at], "%s: rule %q is left out: spec.%s is not known here, and without it the rule may accept more", n.object, c.Rules[at].Name, out[at])
	}
	kept := c.Rules[:0]
	for i := range c.Rules {
		if out[i] == "" {
			kept = append(kept, c.Rules[i])
		}
	}
	c.Rules = kept
	if first, more := firstFault(rules.Validate([]rules.Config{c})); first != "" {
		n.add("spec", "%s: it is not valid: %s%s", n.object, strings.TrimPrefix(first, "configs[0]."), more)
	}
	return c, n.notes
}

// Limit returns the limit for preemption.Config.Limits; nil, with a note, if it is left out. It fails
// on what [limits.Validate] refuses.
func (p *PreemptionLimit) Limit() (*limits.Limit, []bridge.Note, error) {
	n := noter{object: "PreemptionLimit " + p.Metadata.Name}
	if len(p.Spec.Unread) > 0 {
		n.add("spec."+p.Spec.Unread[0], "%s: spec.%s is not known here, and without it the limit may cover more: left out", n.object, p.Spec.Unread[0])
		return nil, n.notes, nil
	}
	l := p.Spec.Limit.Clone()
	l.Name = p.Metadata.Name
	if first, more := firstFault(limits.Validate("spec", []limits.Limit{l})); first != "" {
		return nil, nil, fmt.Errorf("%s%s", strings.Replace(first, "spec[0].", "spec.", 1), more)
	}
	return &l, nil, nil
}

// firstFault returns the first fault, and how many more there are.
func firstFault(err error) (first, more string) {
	faults, _ := err.(preemption.Faults)
	switch n := len(faults) - 1; n {
	case -1:
		return "", ""
	case 0:
	case 1:
		more = " (and 1 more fault)"
	default:
		more = fmt.Sprintf(" (and %d more faults)", n)
	}
	return faults[0].Error(), more
}

// configAnnotation begins the name of the annotation by which a ClusterQueue refers to its
// PreemptionConfig. KEP-13396 says that it is one, for the time of alpha; so each of Kueue's
// annotations that begins so is read, the first by name.
const configAnnotation = Group + "/preemption-config"

// rulesName returns the name of the PreemptionConfig of a queue; empty if it has none.
func (c *ClusterQueue) rulesName() string {
	for _, key := range slices.Sorted(maps.Keys(c.Metadata.Annotations)) {
		if strings.HasPrefix(key, configAnnotation) {
			return c.Metadata.Annotations[key]
		}
	}
	return ""
}

// noteUnknownRules adds notes, by queue, on rules that are not there.
func (b *builder) noteUnknownRules(o *Objects) {
	for i := range b.c.State.Queues {
		q := &b.c.State.Queues[i]
		known := slices.ContainsFunc(b.c.State.Rules, func(c rules.Config) bool { return c.Name == q.Rules })
		if q.Rules != "" && !known {
			why := "is not in the input"
			if e := o.kept.Get((&PreemptionConfig{Metadata: bridge.Metadata{Name: q.Rules}}).key()); e != nil && e.unread != nil {
				why = "was left out"
			}
			b.noteQueue(q, "metadata.annotations", "refers to PreemptionConfig %s, which %s: it has no rules", q.Rules, why)
		}
	}
}

func (b *builder) noteQueue(q *queue.Queue, path, format string, args ...any) {
	object := "ClusterQueue " + q.Name
	b.c.QueueNotes[q.Name] = append(b.c.QueueNotes[q.Name], bridge.Note{Object: object, Path: path, Text: object + " " + fmt.Sprintf(format, args...)})
}
