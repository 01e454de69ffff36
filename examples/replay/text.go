package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// count returns a number of things.
func count(n int64, of string) string {
	if n != 1 {
		of += "s"
	}
	return humanize.Comma(n) + " " + of
}

// change is perMille as a text.
func change(a, b int64) string {
	n, ok := perMille(a, b)
	if !ok {
		return "more"
	}
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	if n == 0 {
		sign = " "
	}
	return fmt.Sprintf("%s%d.%d%%", sign, n/10, n%10)
}

// hours returns an amount of work as GPU-hours.
func hours(amount int64) string {
	tenths := (amount/3600 + 50) / 100
	return fmt.Sprintf("%s.%d", humanize.Comma(tenths/10), tenths%10)
}

// span returns seconds in the unit that suits them.
func span(seconds int64) string {
	for _, u := range []struct {
		name string
		in   int64
	}{{"d", 86400}, {"h", 3600}, {"m", 60}} {
		if seconds >= 2*u.in {
			tenths := (seconds*10 + u.in/2) / u.in
			return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, u.name)
		}
	}
	return fmt.Sprintf("%d s", seconds)
}

func mean(sum, n int64) int64 {
	if n == 0 {
		return 0
	}
	return (sum + n/2) / n
}

func percent(part, of int64) string {
	if of == 0 {
		return "–"
	}
	n := part / max(1, of/1000)
	return fmt.Sprintf("%d.%d%%", n/10, n%10)
}

func took(ns int64) string {
	d := time.Duration(ns)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.String()
}
