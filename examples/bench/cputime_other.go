//go:build !linux

package main

import "time"

var started = time.Now()

// threadTime is the time of a clock, where that of the thread is not known.
func threadTime() time.Duration { return time.Since(started) }
