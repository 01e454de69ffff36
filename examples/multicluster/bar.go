package main

import (
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// bar is a progress bar, shown only on a terminal and only for work that takes longer than a
// second.
type bar struct {
	out      io.Writer
	terminal bool
	started  time.Time
	writer   progress.Writer // nil while it is not shown
	tracker  progress.Tracker
	rendered chan struct{}
}

const patience = time.Second

func newBar(out io.Writer, terminal bool) *bar {
	return &bar{out: out, terminal: terminal, started: time.Now()}
}

func (b *bar) expect(steps int64) { b.tracker.Message, b.tracker.Total = "simulating", steps }

func (b *bar) step() {
	b.tracker.Increment(1)
	if b.writer != nil || !b.terminal || time.Since(b.started) < patience {
		return
	}
	b.writer, b.rendered = progress.NewWriter(), make(chan struct{})
	b.writer.SetOutputWriter(b.out)
	b.writer.SetAutoStop(true) // Stop does nothing before Render has begun
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	b.writer.AppendTracker(&b.tracker)
	go func() {
		b.writer.Render()
		close(b.rendered)
	}()
}

func (b *bar) done() {
	if b.writer != nil {
		b.tracker.MarkAsDone()
		<-b.rendered
	}
}
