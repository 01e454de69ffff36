// Package loop replays a world in a closed loop: who is told to stop really stops, loses what
// it did since its last checkpoint, waits again and runs again.
package loop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/world"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/queue/rules"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// Policy is how decisions are made.
type Policy struct {
	Name   string
	Config preemption.Config // its Cost is made for the world
	rules  *rules.Config     // to which all queues refer; nil: none
	cost   string
	alone  bool  // exchanges alone
	keeps  bool  // progress: exchanges alone, with a cost of its own
	wait   int64 // seconds that a victim may go on to its next checkpoint; for the highest priority it stops at once
}

// Contents is the rules of the policy as a text; empty: it has none. Policies of one name are
// the same only if that is.
func (p *Policy) Contents() (string, error) {
	if p.rules == nil {
		return "", nil
	}
	text, err := json.Marshal(p.rules)
	return string(text), err
}

// words are what names of policies consist of.
var words = []struct {
	word, help string
	set        func(*Policy)
}{
	{"classical", "the policies of the queues decide (default)", func(p *Policy) { p.Config.Sharing = preemption.Classical }},
	{"fair", "fair sharing", func(p *Policy) { p.Config.Sharing = preemption.Fair }},
	{"stable", "fair sharing without circles", func(p *Policy) { p.Config.Sharing = preemption.Stable }},
	{"greedy", "candidates in their order until the request fits (default)", func(p *Policy) { p.Config.Search, p.alone = preemption.Greedy, false }},
	{"exchange", "greedy, improved by exchanges of one candidate for one or two victims", func(p *Policy) { p.Config.Search, p.alone = preemption.Best, true }},
	{"best", "the best allowed set", func(p *Policy) { p.Config.Search, p.alone = preemption.Best, false }},
	{"progress", "exchange among 100 candidates; cost: time since the last checkpoint, however large the job", func(p *Policy) { p.keeps = true }},
	{"age", "cost: GPUs x time since the start", func(p *Policy) { p.cost = "age" }},
	{"checkpoint", "cost: GPUs x time since the last checkpoint", func(p *Policy) { p.cost = "checkpoint" }},
	{"fewest", "exchange and best take the fewest, and of those the cheapest", func(p *Policy) { p.Config.Best.FewestFirst = true }},
	{"rulesalone", "rules take the place of the policies of the queues", func(p *Policy) { p.Config.Compat.RulesAlone = true }},
}

// Help lists the words, a line each.
func Help() string {
	var b strings.Builder
	for _, w := range words {
		fmt.Fprintf(&b, "  %-13s %s\n", w.word, w.help)
	}
	for _, n := range numbers {
		fmt.Fprintf(&b, "  %-13s %s\n", n.word+"N", n.help)
	}
	fmt.Fprintf(&b, "  %-13s %s\n", "wait=TIME", "a victim goes on to a checkpoint that is so near, unless the highest priority needs its room")
	fmt.Fprintf(&b, "  %-13s %s\n", "rules=FILE", "all queues preempt by the PreemptionConfig in FILE, too")
	return b.String()
}

// maxWait limits how long a victim goes on.
const maxWait = 24 * time.Hour

// numbers are the words with a value, besides wait.
var numbers = []struct {
	word, help string
	set        func(*Policy, int)
}{
	{"steps=", "steps of best in a decision (200000)", func(p *Policy, n int) { p.Config.Best.Steps = n }},
	{"candidates=", "candidates that exchange looks at (8; of progress 100)", func(p *Policy, n int) { p.Config.Best.Candidates = n }},
}

// maxNumber limits numbers of policies.
const maxNumber = 1_000_000

// ParsePolicy reads a name: words with + between them, as in best+checkpoint+wait=5m.
func ParsePolicy(name string) (Policy, error) {
	p := Policy{Name: name}
	p.Config.MaxBlockers = -1
	for word := range strings.SplitSeq(name, "+") {
		if err := p.word(word); err != nil {
			return p, fmt.Errorf("policy %q: %w", name, err)
		}
	}
	if p.keeps {
		if p.Config.Search != preemption.Greedy || p.Config.Best.Steps != 0 || p.cost != "" {
			return p, fmt.Errorf("policy %q: progress is a search with its cost: leave out exchange, best, steps, age and checkpoint", name)
		}
		p.Config.Search, p.alone, p.Config.Cost = preemption.Best, true, preemption.CostSinceCheckpoint{}
		p.Config.Best.Candidates = cmp.Or(p.Config.Best.Candidates, 100)
	}
	search, best := p.Config.Search, &p.Config.Best
	switch {
	case p.Config.Compat.RulesAlone && p.rules == nil:
		return p, fmt.Errorf("policy %q: rulesalone needs rules=FILE", name)
	case best.FewestFirst && search == preemption.Greedy:
		return p, fmt.Errorf("policy %q: fewest is for exchange and best", name)
	case best.Steps > 0 && (search == preemption.Greedy || p.alone):
		return p, fmt.Errorf("policy %q: steps is for best", name)
	case best.Candidates > 0 && !p.alone:
		return p, fmt.Errorf("policy %q: candidates is for exchange", name)
	case p.alone:
		best.Steps = -1
	}
	return p, nil
}

// word reads one word.
func (p *Policy) word(word string) error {
	if text, ok := strings.CutPrefix(word, "wait="); ok {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > maxWait || d%time.Second != 0 {
			return fmt.Errorf("wait= %q: want whole seconds, as in 5m", text)
		}
		p.wait = int64(d / time.Second)
		return nil
	}
	if is, err := p.ruleWord(word); is {
		return err
	}
	for _, n := range numbers {
		if text, ok := strings.CutPrefix(word, n.word); ok {
			value, err := strconv.Atoi(text)
			if err != nil || value < 1 || value > maxNumber {
				return fmt.Errorf("%s %q: want a number, 1 to %d", n.word, text, maxNumber)
			}
			n.set(p, value)
			return nil
		}
	}
	for _, w := range words {
		if w.word == word {
			w.set(p)
			return nil
		}
	}
	return fmt.Errorf("unknown word %q", word)
}

// config returns the configuration for a world, where victims may go on for so long.
func (p *Policy) config(w *world.World, wait int64) preemption.Config {
	c := p.Config
	c.MinRuntime.Preempt = quota.Some(time.Duration(w.MinRuntime) * time.Second)
	c.MinRuntime.Reclaim = c.MinRuntime.Preempt
	if w.MinRuntime == 0 && !p.timed() {
		c.MaxRetrySteps = -1 // nothing makes time help
	}
	switch p.cost {
	case "age":
		c.Cost = preemption.CostByAge{Resources: []string{world.GPU}}
	case "checkpoint":
		c.Cost = preemption.CostSinceCheckpoint{Resources: []string{world.GPU}}
	}
	if cost, ok := c.Cost.(preemption.CostSinceCheckpoint); ok {
		c.Cost = sinceCheckpoint{cost: cost, every: w.Checkpoint, restart: w.Restart, wait: wait}
	}
	return c
}

// sinceCheckpoint is [preemption.CostSinceCheckpoint] for jobs that save their work at fixed
// intervals: it knows the last checkpoint without being told of each.
type sinceCheckpoint struct {
	cost                 preemption.CostSinceCheckpoint
	every, restart, wait int64
}

// Lost is the cost. A job that may go on to its next checkpoint loses its restart alone.
func (c sinceCheckpoint) Lost(running workload.Workload, podSet string, now time.Time) int64 {
	elapsed := int64(now.Sub(running.ReservedAt)/time.Second) - c.restart
	if c.every > 0 && elapsed >= 0 {
		since := elapsed % c.every
		if c.every-since <= c.wait {
			since = 0
		}
		if elapsed >= c.every || since == 0 {
			running.Loss.LastCheckpoint = now.Add(-time.Duration(since) * time.Second)
		}
	}
	running.Loss.Restart = quota.Some(time.Duration(c.restart) * time.Second)
	return c.cost.Lost(running, podSet, now)
}
