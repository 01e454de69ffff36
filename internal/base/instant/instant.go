// Package instant turns times into int64 nanoseconds in the same order.
package instant

import (
	"math"
	"time"
)

// Unset is the instant of the zero time. It is before all others.
const Unset int64 = math.MinInt64

// Rank returns a number that orders instants by time, [Unset] after all others: a time that is
// not known counts as the newest.
func Rank(at int64) uint64 { return uint64(at) ^ 1<<63 - 1 }

var (
	earliest = time.Unix(0, Unset+1)
	latest   = time.Unix(0, math.MaxInt64)
)

// Range describes the valid times.
const Range = "the years 1678 to 2262"

// Valid reports whether a time is zero or within [Range].
func Valid(t time.Time) bool {
	if s := t.Unix(); s > earliest.Unix() && s < latest.Unix() { // the usual case
		return true
	}
	return t.IsZero() || !t.Before(earliest) && !t.After(latest)
}

// From is [Of] and [Valid] at once.
func From(t time.Time) (at int64, ok bool) {
	if s := t.Unix(); s > math.MinInt64/int64(time.Second) && s < math.MaxInt64/int64(time.Second) { // the usual case
		return s*int64(time.Second) + int64(t.Nanosecond()), true
	}
	return Of(t), Valid(t)
}

// Time is the inverse of [Of], in UTC.
func Time(at int64) time.Time {
	if at == Unset {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}

// Of returns a valid time as nanoseconds since 1970, [Unset] for the zero time.
func Of(t time.Time) int64 {
	if t.IsZero() {
		return Unset
	}
	return t.UnixNano()
}

// Clamped is [Of] for any time: before [Range] it is the zero time, after it the last instant.
func Clamped(t time.Time) int64 {
	switch {
	case t.After(latest):
		return math.MaxInt64
	case t.Before(earliest):
		return Unset
	}
	return Of(t)
}
