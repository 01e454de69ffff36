package derive

import (
	"encoding"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cedesched/cede/quota"
)

// line is one line of a file: a verb, for most verbs a name, and options, as in
//
//	running b1 in=b priority=5 gpu=4 evicted
type line struct {
	at      string // file:line
	verb    string
	name    string
	options []option
	err     error // the first
}

// option is key=value, or a key alone.
type option struct {
	key, value string
	set        bool // there is a value
	used       bool
}

// parseLine splits a line into words.
func parseLine(at, text string) *line {
	words := strings.Fields(text)
	l := &line{at: at, verb: words[0]}
	for i, word := range words[1:] {
		key, value, set := strings.Cut(word, "=")
		if i == 0 && !set {
			l.name = word
			continue
		}
		l.options = append(l.options, option{key: key, value: value, set: set})
	}
	return l
}

func (l *line) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: %s", l.at, fmt.Sprintf(format, args...))
	}
}

// get returns the value of an option.
func (l *line) get(key string) (value string, ok bool) {
	i := slices.IndexFunc(l.options, func(o option) bool { return o.key == key && !o.used })
	if i < 0 {
		return "", false
	}
	o := &l.options[i]
	o.used = true
	if !o.set {
		l.fail("%s needs a value, as in %s=...", key, key)
	}
	return o.value, o.set
}

func (l *line) text(key string) string {
	value, _ := l.get(key)
	return value
}

// list returns the values of an option, which commas separate.
func (l *line) list(key string) []string {
	value, ok := l.get(key)
	if !ok {
		return nil
	}
	return strings.Split(value, ",")
}

// flag reports whether a key stands alone in the line.
func (l *line) flag(key string) bool {
	if l.name == key { // it came first
		l.name = ""
		return true
	}
	i := slices.IndexFunc(l.options, func(o option) bool { return o.key == key && !o.used && !o.set })
	if i >= 0 {
		l.options[i].used = true
	}
	return i >= 0
}

func (l *line) number(key string) int64 {
	value, ok := l.get(key)
	if !ok {
		return 0
	}
	return l.integer(key, value)
}

func (l *line) integer(key, value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		l.fail("%s=%s is not a whole number", key, value)
	}
	return n
}

func (l *line) duration(key string) (d time.Duration, ok bool) {
	value, ok := l.get(key)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		l.fail("%s=%s is not a duration, as in 90s or 1h30m", key, value)
	}
	return d, true
}

// ago returns a time, given as how long before noon it is; zero if it is not given.
func (l *line) ago(key string) time.Time {
	if d, ok := l.duration(key); ok {
		return noon.Add(-d)
	}
	return time.Time{}
}

// constant reads the text of an enum.
func (l *line) constant(key string, into encoding.TextUnmarshaler) {
	if value, ok := l.get(key); ok {
		if err := into.UnmarshalText([]byte(value)); err != nil {
			l.fail("%s=%s: %v", key, value, err)
		}
	}
}

// resources lists the resources that may be written without a flavor.
var resources = []string{"cpu", "gpu", "memory", "slots"}

// column reads a resource, as gpu, or with its flavor, as h100/gpu. The flavor of /gpu is to be
// assigned.
func column(key string) (fr quota.FlavorResource, ok bool) {
	if flavor, resource, ok := strings.Cut(key, "/"); ok {
		return quota.FlavorResource{Flavor: flavor, Resource: resource}, resource != ""
	}
	return quota.FlavorResource{Flavor: "default", Resource: key}, slices.Contains(resources, key)
}

// amount reads an amount of a resource.
func (l *line) amount(o option) int64 {
	if o.value == "unlimited" {
		return quota.Unlimited
	}
	return l.integer(o.key, o.value)
}

// quotas reads the quotas of a queue or cohort, and their limits.
func (l *line) quotas() (list []quota.Quota) {
	var keys []string
	for i := range l.options {
		o := &l.options[i]
		of, limit := o.key, ""
		if before, after, ok := strings.Cut(o.key, "."); ok {
			limit, of = before, after
		}
		fr, ok := column(of)
		if o.used || !ok || !o.set {
			continue
		}
		o.used = true
		at := slices.IndexFunc(list, func(q quota.Quota) bool { return q.Flavor == fr.Flavor && q.Resource == fr.Resource })
		if at < 0 {
			at = len(list)
			list = append(list, quota.Quota{Flavor: fr.Flavor, Resource: fr.Resource})
		}
		if slices.Contains(keys, o.key) {
			l.fail("%s is stated twice", o.key)
		}
		keys = append(keys, o.key)
		switch limit {
		case "":
			list[at].Nominal = l.amount(*o)
		case "borrow":
			list[at].BorrowingLimit = quota.AtMost(l.amount(*o))
		case "lend":
			list[at].LendingLimit = quota.AtMost(l.amount(*o))
		default:
			l.fail("%s is no limit: want borrow.%s or lend.%s", o.key, of, of)
		}
	}
	return list
}

// end fails if an option was not read, or if a name is missing or not expected.
func (l *line) end(named bool) error {
	if named != (l.name != "") {
		if named {
			l.fail("%s needs a name", l.verb)
		}
		l.fail("%s has no name: what is %q?", l.verb, l.name)
	}
	for _, o := range l.options {
		if !o.used {
			l.fail("%s does not know %q, or not twice", l.verb, o.key)
		}
	}
	return l.err
}
