package answers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/rules"
)

// AllQueues stands for every queue in [SetRules].
const AllQueues = "*"

// SetRules makes a queue, or with [AllQueues] each, refer to rules; none is to no rules. It changes the
// queues of the list.
func SetRules(queues []queue.Queue, configs []rules.Config, name, config string) error {
	if config == none {
		config = ""
	} else if !slices.ContainsFunc(configs, func(c rules.Config) bool { return c.Name == config }) {
		return fmt.Errorf("there are no rules %q; there are: %s", config, OrNothing(configNames(configs)))
	}
	found := false
	for i := range queues {
		if name == AllQueues || queues[i].Name == name {
			queues[i].Rules, found = config, true
		}
	}
	if !found {
		return fmt.Errorf("there is no queue %q", name)
	}
	return nil
}

// SwitchRule switches one rule: with off the rules are as without it, with only there is no other rule
// beside it. It returns the changed list.
func SwitchRule(configs []rules.Config, config, rule, to string) ([]rules.Config, error) {
	at := slices.IndexFunc(configs, func(c rules.Config) bool { return c.Name == config })
	if at < 0 {
		return configs, fmt.Errorf("there are no rules %q; there are: %s", config, OrNothing(configNames(configs)))
	}
	c := configs[at].Clone()
	var names []string
	for _, r := range c.Rules {
		names = append(names, r.Name)
	}
	if !slices.Contains(names, rule) {
		return configs, fmt.Errorf("rules %q have no rule %q; they have: %s", config, rule, OrNothing(names))
	}
	switch to {
	case "off":
		c.Rules = slices.DeleteFunc(c.Rules, func(r rules.Rule) bool { return r.Name == rule })
	case "only":
		c.Rules = slices.DeleteFunc(c.Rules, func(r rules.Rule) bool { return r.Name != rule })
	default:
		return configs, fmt.Errorf("%q is unknown: want off or only", to)
	}
	changed := slices.Clone(configs)
	changed[at] = c
	return changed, nil
}

func configNames(configs []rules.Config) []string {
	var list []string
	for _, c := range configs {
		list = append(list, c.Name)
	}
	slices.SortFunc(list, strings.Compare)
	return list
}
