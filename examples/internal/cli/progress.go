package cli

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long something takes before its progress is shown.
const patience = time.Second

// Progress shows how far something is, once it has taken a second, whether or not a step ended then.
type Progress struct {
	screen Screen
	what   string
	total  int64
	timer  *time.Timer // nil: nothing is shown

	mutex sync.Mutex // of what follows
	done  int64
	ended bool
	bar   *progressbar.ProgressBar
}

// Start begins something of so many steps; -1: it is not known how many.
func (s Screen) Start(what string, total int64) *Progress { return s.startIn(what, total, patience) }

func (s Screen) startIn(what string, total int64, patience time.Duration) *Progress {
	p := &Progress{screen: s, what: what, total: total}
	if s.Progress != nil {
		p.timer = time.AfterFunc(patience, p.show)
	}
	return p
}

// show begins to show the bar.
func (p *Progress) show() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.ended {
		return
	}
	p.bar = progressbar.NewOptions64(p.total, progressbar.OptionSetDescription(p.what), progressbar.OptionSetWriter(p.screen.Progress),
		progressbar.OptionSetWidth(20), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	_ = p.bar.RenderBlank()
	_ = p.bar.Set64(p.done)
}

// Add counts steps.
func (p *Progress) Add(n int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.done += int64(n); p.bar != nil {
		_ = p.bar.Set64(p.done)
	}
}

// Clear takes the bar away until the next step, so that something else can be printed on the terminal.
func (p *Progress) Clear() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// Done takes the bar away.
func (p *Progress) Done() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.ended = true; p.timer != nil {
		p.timer.Stop()
	}
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// Reader counts the kilobytes that are read.
func (p *Progress) Reader(r io.Reader) io.Reader { return &counted{r: r, progress: p} }

type counted struct {
	r        io.Reader
	progress *Progress
	rest     int
}

func (c *counted) Read(data []byte) (int, error) {
	n, err := c.r.Read(data)
	c.rest += n
	c.progress.Add(c.rest >> 10)
	c.rest &= 1<<10 - 1
	return n, err
}
