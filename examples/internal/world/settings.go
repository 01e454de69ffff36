package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/queue"
)

// Settings are the settings of a world. In a name they follow the source, as in
// philly-vc+capacity=60+checkpoint=30m; what is not named has its default.
type Settings struct {
	Capacity   int64 // percent of the peak of the demand, where it is not given as a number
	GPUs       int64 // the capacity in GPUs; 0: by Capacity
	CPUs       int64 // the capacity in CPUs; 0: by Capacity, where CPUs count
	FlavorGPUs map[string]int64
	Bands      int64 // into which the priorities are divided; 0: they are as they are
	Days       int64 // of a drawn world
	Checkpoint int64 // seconds of work between checkpoints; 0: there are none
	Restart    int64 // seconds that each start takes before the job works
	Grace      int64 // seconds in which a job that was told to stop still holds its room
	Warmup     int64 // seconds from the start that do not count
	Window     int64 // seconds after these that count; 0: all
	MinRuntime int64 // seconds in which a job may not be preempted or reclaimed
	Limit      int64 // borrowing limit, percent of the nominal quota; -1: none
	Cohorts    int   // cohorts below the root; 0: the queues are in the root
	Within     queue.VictimPolicy
	Reclaim    queue.VictimPolicy
	Borrow     queue.VictimPolicy
	Strategy   queue.Strategy
	given      map[string]bool // the keys that the name mentions
}

// Defaults are the settings that a name does not mention.
func Defaults() Settings {
	return Settings{Capacity: 70, Days: 30, Checkpoint: 3600, Restart: 60, Grace: 30, Limit: -1,
		Within: queue.LowerPriority, Reclaim: queue.Any, Borrow: queue.LowerPriority}
}

// setting is one key of a name.
type setting struct {
	key, help string
	set       func(*Settings, string) error
}

// maxDays and maxCohorts limit the settings of a name.
const (
	maxDays    = 400
	maxCohorts = 26
	// maxCapacity bounds a capacity, so that it is no overflow in thousandths times seconds.
	maxCapacity = 10_000_000
)

var settings = []setting{
	{"capacity", "percent of the peak of the demand, 1 to 1000 (70, at least the largest job)", func(s *Settings, v string) error {
		return number(&s.Capacity, v, 1, 1000)
	}},
	{"gpus", "the capacity in GPUs, in place of a percentage; gpus.NAME: that of a flavor", func(s *Settings, v string) error {
		return number(&s.GPUs, v, 1, maxCapacity)
	}},
	{"cpus", "the capacity in CPUs; without it CPUs of records do not count", func(s *Settings, v string) error {
		return number(&s.CPUs, v, 1, maxCapacity)
	}},
	{"bands", "priorities in place of those of the records; 0: theirs (of sacct: by QOS or partition, else 3)", func(s *Settings, v string) error {
		return number(&s.Bands, v, 0, maxBands)
	}},
	{"days", "length of a drawn world (30)", func(s *Settings, v string) error {
		return number(&s.Days, v, 1, maxDays)
	}},
	{"checkpoint", "work between two checkpoints; 0: none (1h)", func(s *Settings, v string) error {
		return span(&s.Checkpoint, v)
	}},
	{"restart", "what each start takes before the job works (1m)", func(s *Settings, v string) error {
		return span(&s.Restart, v)
	}},
	{"grace", "how long a job that stops still holds its room (30s)", func(s *Settings, v string) error {
		return span(&s.Grace, v)
	}},
	{"warmup", "time at the start that does not count (0s)", func(s *Settings, v string) error { return span(&s.Warmup, v) }},
	{"window", "time after it that counts; 0: all (0s)", func(s *Settings, v string) error { return span(&s.Window, v) }},
	{"minruntime", "how long a job may not be preempted or reclaimed (0s)", func(s *Settings, v string) error {
		return span(&s.MinRuntime, v)
	}},
	{"limit", "borrowing limit, percent of the nominal quota (none)", func(s *Settings, v string) error {
		return number(&s.Limit, v, 0, 100_000)
	}},
	{"cohorts", "cohorts below the root (0)", func(s *Settings, v string) error {
		var n int64
		err := number(&n, v, 0, maxCohorts)
		s.Cohorts = int(n)
		return err
	}},
	{"within", "withinClusterQueue: Never, LowerPriority (default), LowerOrNewerEqualPriority", func(s *Settings, v string) error {
		return s.Within.UnmarshalText([]byte(v))
	}},
	{"reclaim", "reclaimWithinCohort: Never, LowerPriority, Any (default)", func(s *Settings, v string) error {
		return s.Reclaim.UnmarshalText([]byte(v))
	}},
	{"borrow", "borrowWithinCohort: Never, LowerPriority (default)", func(s *Settings, v string) error {
		return s.Borrow.UnmarshalText([]byte(v))
	}},
	{"strategy", "BestEffortFIFO (default), StrictFIFO", func(s *Settings, v string) error {
		return s.Strategy.UnmarshalText([]byte(v))
	}},
}

// Help lists the settings, a line each.
func Help() string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&b, "  +%-11s %s\n", s.key+"=", s.help)
	}
	return b.String()
}

// ParseName reads a name: a source, then settings.
func ParseName(name string) (source string, s Settings, err error) {
	words := strings.Split(name, "+")
	s = Defaults()
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if flavor, is := strings.CutPrefix(key, "gpus."); is && s.FlavorGPUs[flavor] == 0 {
			var n int64
			if err := number(&n, value, 1, maxCapacity); err != nil {
				return "", s, fmt.Errorf("world %q: %s: %w", name, key, err)
			}
			if s.FlavorGPUs == nil {
				s.FlavorGPUs = map[string]int64{}
			}
			s.FlavorGPUs[flavor] = n
			s.give("gpus")
			continue
		}
		i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
		switch {
		case i < 0:
			return "", s, fmt.Errorf("world %q: unknown setting %q", name, key)
		case s.given[key]:
			return "", s, fmt.Errorf("world %q: %s is set twice", name, key)
		}
		s.give(key)
		if err := settings[i].set(&s, value); err != nil {
			return "", s, fmt.Errorf("world %q: %s: %w", name, key, err)
		}
	}
	return words[0], s, nil
}

func (s *Settings) give(key string) {
	if s.given == nil {
		s.given = map[string]bool{}
	}
	s.given[key] = true
}

func number(into *int64, text string, least, most int64) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q: want %d to %d", text, least, most)
	}
	*into = n
	return nil
}

// maxSpan limits durations.
const (
	day     = 24 * time.Hour
	maxSpan = 366 * day
)

func span(into *int64, text string) error {
	days, isDays := strings.CutSuffix(text, "d")
	d, err := time.ParseDuration(text)
	if isDays {
		var n int64
		err = number(&n, days, 0, int64(maxSpan/day))
		d = time.Duration(n) * day
	}
	if err != nil || d < 0 || d > maxSpan || d%time.Second != 0 {
		return fmt.Errorf("%q: want whole seconds, as in 90s, 1h30m or 2d", text)
	}
	*into = int64(d / time.Second)
	return nil
}
