package records

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is a line of a table.
type row struct {
	*collector
	header  []string // the names of the columns in the file
	fields  []string
	columns map[string]int
	odd     bool // something is wrong with it
	// What follows is the row's own until it is taken: an odd row counts for nothing but itself.
	counts [reasons]int64
	dates  bool
	wrong  []oddity // of a format that spares odd rows: what is wrong
	mended []oddity // and what was, where another column says the same
	last   int64    // the last instant that it says
}

// take takes the row in, as a job if there is one.
func (r *row) take(j Job, ok bool) {
	if r.odd {
		for _, o := range r.wrong[:min(1, len(r.wrong))] { // a row is left out once
			r.leaveOut(o.kind, r.line, o.text)
		}
		return
	}
	if ok {
		var err error
		switch ok, err = r.add(j, r.line); {
		case err != nil && r.spares:
			r.leaveOut("a job", r.line, err.Error())
		case err != nil:
			r.faults.add("line %d: %v", r.line, err)
		}
		if !ok {
			return
		}
	}
	for of, n := range r.counts {
		r.collector.counts[of] += n
	}
	r.collector.dates = r.collector.dates || r.dates
	r.latest = max(r.latest, r.last)
	for _, o := range r.mended {
		r.repaired.note(o.kind, r.line, o.text)
	}
}

// first returns what the first of some readings says that is right. Those before it count as repaired.
func (r *row) first(readings ...func() int64) (n int64) {
	before, was, counts := r.wrong, r.odd, r.counts
	var failed []oddity
	for _, read := range readings {
		r.wrong, r.odd, r.counts = nil, false, counts
		if n = read(); !r.odd {
			r.wrong, r.odd = before, was
			r.mended = append(r.mended, failed...)
			return n
		}
		failed = append(failed, r.wrong...)
	}
	r.wrong, r.odd = append(before, failed...), was || len(failed) > 0
	return n
}

func (r *row) has(column string) bool { _, ok := r.columns[column]; return ok }

// text returns a field without blanks around it; empty: the column is not there.
func (r *row) text(column string) string {
	i, ok := r.columns[column]
	if !ok {
		return ""
	}
	return strings.TrimSpace(r.fields[i])
}

// named returns the name that the file has for a column.
func (r *row) named(column string) string {
	if i, ok := r.columns[column]; ok {
		return strings.TrimSpace(r.header[i])
	}
	return column
}

// shown is how much of a field is in a message.
const shown = 60

func (r *row) bad(column, want string) {
	r.odd = true
	text := r.text(column)
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	if r.spares {
		r.wrong = append(r.wrong, oddity{kind: r.named(column), text: fmt.Sprintf("%q: want %s", text, want)})
		return
	}
	r.faults.add("line %d: %s: %q: want %s", r.line, r.named(column), text, want)
}

// number reads a whole number.
func (r *row) number(column string, least, most int64) int64 {
	n, err := strconv.ParseInt(r.text(column), 10, 64)
	if err != nil || n < least || n > most {
		r.bad(column, fmt.Sprintf("a whole number, %d to %d", least, most))
		return least
	}
	return n
}

// milli reads a number with up to three decimals, in thousandths.
func (r *row) milli(column string, most int64) int64 {
	n, ok := milli(r.text(column))
	if !ok || n > most*1000 {
		r.bad(column, fmt.Sprintf("a number, 0 to %d, in thousandths at most", most))
	}
	return n
}

func milli(text string) (n int64, ok bool) {
	whole, part, _ := strings.Cut(text, ".")
	part = strings.TrimRight(part, "0")
	if text == "" || text == "." || len(part) > 3 || strings.Trim(whole+part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	return n, err == nil
}

func (r *row) word(column string, words map[string]int64) int64 {
	n, ok := words[r.text(column)]
	if !ok {
		r.bad(column, "one of "+strings.Join(slices.Sorted(maps.Keys(words)), ", "))
	}
	return n
}

// seconds reads a length: seconds, with decimals or without, or [days-]hours:minutes:seconds. What is more than zero is
// a second at least.
func (r *row) seconds(column string) int64 {
	n, fraction, ok := span(r.text(column))
	if !ok || n < 0 || n > maxSeconds {
		r.bad(column, fmt.Sprintf("seconds, 0 to %d, or [days-]hours:minutes:seconds", maxSeconds))
		return 0
	}
	if fraction {
		r.counts[rounded]++
		n = max(1, n)
	}
	return n
}

var clockText = regexp.MustCompile(`^(?:(\d{1,5})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2})(?:\.\d+)?$`)

func span(text string) (n int64, fraction, ok bool) {
	if parts := clockText.FindStringSubmatch(text); parts != nil {
		for i, unit := range []int64{86400, 3600, 60, 1} {
			part, _ := strconv.ParseInt(parts[i+1], 10, 64) // an empty part is zero
			n += part * unit
		}
		return n, strings.Contains(text, "."), true
	}
	return wholeSeconds(text)
}

// longestNumber is how long a number may be; what is longer is none that was meant.
const longestNumber = 40

// wholeSeconds reads a number of seconds, rounded.
func wholeSeconds(text string) (n int64, fraction, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, false, true
	}
	if !strings.ContainsAny(text, ".eE") || strings.ContainsAny(text, "/xX_pP") || len(text) > longestNumber {
		return 0, false, false
	}
	if exponent := strings.IndexAny(text, "eE"); exponent >= 0 && len(text)-exponent > 4 {
		return 0, false, false
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false, false
	}
	n, err := strconv.ParseInt(exact.FloatString(0), 10, 64)
	return n, !exact.IsInt(), err == nil
}

// layouts are the forms of dates, without those of RFC 3339. Go reads fractions of seconds in each.
var layouts = []string{
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05 MST", "2006/01/02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
}

// isNone reports whether a field says that there is no time.
func isNone(text string) bool { return text == "" || text == "None" || text == "Unknown" }

// instant reads a time: a date (of UTC, if it names no zone), seconds since 1970, or seconds since the start of the records.
func instant(text string) (n int64, date, fraction, ok bool) {
	if n, fraction, ok = wholeSeconds(text); ok {
		return n, false, fraction, n >= 0 && n <= maxInstant
	}
	at, err := time.Parse(time.RFC3339, text)
	for i := 0; err != nil && i < len(layouts); i++ {
		at, err = time.Parse(layouts[i], text)
	}
	n = at.Unix()
	if at.Nanosecond() >= int(time.Second/2) {
		n++
	}
	return n, true, at.Nanosecond() > 0, err == nil && n >= 0 && n <= maxInstant
}

// when reads a time.
func (r *row) when(column string) int64 {
	n, date, fraction, ok := instant(r.text(column))
	if !ok {
		r.bad(column, "a date, as 2026-01-31T12:00:00Z, or seconds since 1970 or since the start")
	}
	if fraction {
		r.counts[rounded]++
	}
	r.dates = r.dates || date
	return n
}

// between returns the time from one column to another.
func (r *row) between(start, end string) int64 {
	from, to := r.when(start), r.when(end)
	switch {
	case r.odd:
		return 0
	case to < from:
		r.bad(end, "a time that is not before "+r.named(start)+" ("+r.text(start)+")")
	case to-from > maxSeconds:
		r.bad(end, fmt.Sprintf("a time at most %d days after %s (%s)", maxSeconds/86400, r.named(start), r.text(start)))
	}
	return to - from
}
