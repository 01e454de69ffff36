package derive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/placement"
)

// Run answers the questions of a file. It returns the file with these answers in place of the
// old ones. name is that of the file, for errors; page is the text of docs/designs/rules.md, with
// the rules that the file names.
func Run(name, text, page string) (string, error) {
	s := script{name: name, common: &world{page: page}}
	s.world = s.common
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		lineText := lines[i]
		if lineText == answerMark { // the old answer
			for i++; i < len(lines) && lines[i] != ""; i++ {
			}
			i--
			continue
		}
		if err := s.add(i+1, lineText); err != nil {
			return "", err
		}
	}
	if s.asked == 0 {
		return "", fmt.Errorf("%s: no question", name)
	}
	return s.out.String(), nil
}

// answerMark stands between a question and its answer, which ends at an empty line.
const answerMark = "----"

type script struct {
	name   string
	common *world // what is said before the first sentence holds for all cases
	world  *world
	quoted bool // the last line was a part of a sentence
	asked  int
	ended  bool // an answer, which an empty line ends
	out    strings.Builder
}

func (s *script) add(number int, text string) error {
	if s.ended && text != "" {
		fmt.Fprintln(&s.out)
	}
	s.ended = false
	fmt.Fprintln(&s.out, text)
	quoted := s.quoted
	s.quoted = strings.HasPrefix(text, ">")
	switch {
	case s.quoted && !quoted:
		s.world = s.common.clone()
		return nil
	case s.quoted, strings.TrimSpace(text) == "", strings.HasPrefix(text, "#"):
		return nil
	}
	l := parseLine(fmt.Sprintf("%s:%d", s.name, number), text)
	if state := verbs[l.verb]; state != nil {
		return state(s.world, l)
	}
	question := questions[l.verb]
	if question == nil {
		known := slices.Concat(slices.Sorted(maps.Keys(verbs)), slices.Sorted(maps.Keys(questions)))
		return fmt.Errorf("%s: unknown verb %q: want one of %s", l.at, l.verb, strings.Join(known, ", "))
	}
	answer, err := question(s.world, l)
	if err != nil {
		return err
	}
	s.asked++
	s.ended = true
	fmt.Fprintf(&s.out, "%s\n%s", answerMark, answer)
	return nil
}

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
