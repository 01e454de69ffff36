package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/internal/base/instant"
	"github.com/cedesched/cede/internal/engine/trace"
)

// untilChanged says of a no that time alone changes nothing: no protection ends that would help. What changes is not foreseen: running work
// ends, or somebody sets something otherwise.
const untilChanged = "until something changes"

// tally counts workloads or units and names a few: enough to see the pattern on a screen.
type tally struct {
	count int64
	named []string
}

func (n *tally) add(name string) {
	if n.count++; len(n.named) < 4 {
		n.named = append(n.named, name)
	}
}

// String names a few of them.
func (n tally) String() string {
	text := strings.Join(n.named, ", ")
	if more := n.count - int64(len(n.named)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// yield is a clause: that they yield.
func (n tally) yield() string {
	if n.count == 1 {
		return n.String() + " yields"
	}
	return n.String() + " yield"
}

// span is the first and the last instant at which a rule of time ends; zero if none does.
type span struct{ from, last time.Time }

func (s *span) include(at time.Time) {
	if s.from.IsZero() || at.Before(s.from) {
		s.from = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// until says when a rule ends for the first and for the last of a number, if it does.
func (s span) until(now time.Time) string {
	switch {
	case s.from.IsZero():
		return ""
	case s.from.Equal(s.last):
		return until(s.last, now)
	}
	return fmt.Sprintf(", the first until %s, the last until %s", clock(s.from, now), clock(s.last, now))
}

// until says when a rule ends, if it does.
func until(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ", until " + clock(at, now)
}

// kept counts the workloads or units that one rule keeps from yielding.
type kept struct {
	rule  trace.Rule
	setBy string // what sets the rule, or borrows nothing
	tally
	span
}

// keptList has a number for each rule and who sets it.
type keptList struct {
	list []*kept
	at   map[keptKey]*kept
}

type keptKey struct {
	rule trace.Rule
	by   int // what sets it, as the trace has it
}

// add counts what a step says is kept. The name of who set the rule is asked for once.
func (l *keptList) add(s *trace.Step, name string, timed bool, setBy func(*trace.Step) string) {
	key := keptKey{s.Rule, s.SetBy}
	k := l.at[key]
	if k == nil {
		if l.at == nil {
			l.at = map[keptKey]*kept{}
		}
		k = &kept{rule: s.Rule, setBy: setBy(s)}
		l.at[key], l.list = k, append(l.list, k)
	}
	k.tally.add(name)
	if timed && s.Until < math.MaxInt64 {
		k.include(instant.Time(s.Until))
	}
}

// sort puts the largest numbers first, then the rules as they are asked.
func (l *keptList) sort() {
	rank := func(k *kept) int {
		switch k.rule {
		case trace.NotUsed:
			return 0
		case trace.NotLower:
			return 1
		case trace.Unstable:
			return int(trace.FairShare)
		}
		return int(k.rule)
	}
	slices.SortStableFunc(l.list, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.setBy, b.setBy))
	})
}

func (l *keptList) named() (names []string) {
	for _, k := range l.list {
		names = append(names, k.tally.named...)
	}
	return names
}

// clock prints a time in UTC: the time of day alone if it is the day of now.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	layout := "15:04:05"
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		layout = "2006-01-02 15:04:05"
	}
	if t.Nanosecond() != 0 {
		layout += ".000000000"
	}
	return t.Format(layout)
}

// count prints a number of things.
func count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// leaving says behind its name that a workload was told to leave before.
func leaving(already bool) string {
	if already {
		return " (leaving already)"
	}
	return ""
}

// changes is the step that says what would change the answer.
func changes(ways []string) Step {
	if len(ways) == 0 {
		ways = []string{"Nothing that was tried."}
	}
	return Step{Section: whatChanges, Lines: ways}
}

// each says each of some things.
func each[T any](list []T, say func(*T) string) []string {
	var said []string
	for i := range list {
		said = append(said, say(&list[i]))
	}
	return said
}
