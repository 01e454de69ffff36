package derive

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/cedesched/cede/queue/rules"
)

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
