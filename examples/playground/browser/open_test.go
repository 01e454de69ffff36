//go:build unix || windows

// These helpers drive a real Chromium for the tests of the page and for its pictures.
package browser_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// ErrNone is that there is no Chromium.
var ErrNone = errors.New("there is no Chromium or Chrome in the PATH, nor in $CHROMIUM")

// Find returns the program of the browser. It fails with [ErrNone].
func Find() (string, error) {
	if named := os.Getenv("CHROMIUM"); named != "" {
		return named, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Tab is a tab, in a window of its own, of the one browser.
type Tab struct {
	context.Context
	mu     sync.Mutex
	faults []string
	close  context.CancelFunc
}

// browser starts the browser of all tests: to start one takes as long as to load the page.
var browser = sync.OnceValues(func() (started context.Context, err error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience), chromedp.Flag("process-per-site", true),
		chromedp.Flag("js-flags", "--wasm-lazy-compilation --liftoff-only")) // each tab runs a small part of the program, and that once
	if os.Geteuid() == 0 { // Chromium refuses its sandbox to root, as in a container
		options = append(options, chromedp.NoSandbox)
	}
	outer, _ := chromedp.NewExecAllocator(context.Background(), options...)
	started, closeBrowser = chromedp.NewContext(outer)
	return started, chromedp.Do(started)
})

var closeBrowser = func() {}

func TestMain(m *testing.M) {
	status := m.Run()
	closeBrowser()
	os.Exit(status)
}

// Open opens a tab of a size. Close closes it.
func Open(width, height int) (*Tab, error) {
	started, err := browser()
	if err != nil {
		return nil, err
	}
	inner, closeTab := chromedp.NewContext(started)
	t := &Tab{Context: inner, close: closeTab}
	if err := chromedp.Listen(inner, t.listen); err != nil {
		t.Close()
		return nil, err
	}
	if _, err := chromedp.Call(inner, log.Enable, cdp.Empty{}); err != nil {
		t.Close()
		return nil, err
	}
	// Each tab takes keys as if it were the one in front.
	if _, err := chromedp.Call(inner, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Close()
		return nil, err
	}
	if err := t.Do(chromedp.EmulateViewport(int64(width), int64(height))); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Close closes the tab.
func (t *Tab) Close() { t.close() }

// listen keeps what the console says is wrong: errors, exceptions, violations of the policy.
func (t *Tab) listen(event any) {
	fault := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		fault = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			fault += ": " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			fault = "the console: " + string(e.Type)
			for _, a := range e.Args {
				fault += fmt.Sprintf(" %s%s", a.Value, a.Description)
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			fault = fmt.Sprintf("%s: %s (%s)", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	}
	if fault != "" {
		t.mu.Lock()
		t.faults = append(t.faults, fault)
		t.mu.Unlock()
	}
}

// Faults returns what the console said was wrong.
func (t *Tab) Faults() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.faults
}

// patience is how long a step may take: the machine may be busy.
const patience = 3 * time.Minute

// Do runs actions, for not longer than a step may take.
func (t *Tab) Do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.Context, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// Get runs an action and returns its result.
func Get[T any](t *Tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(t.Context, patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// Value evaluates an expression; a promise is waited for.
func Value[T any](t *Tab, expression string) (T, error) {
	return Get(t, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Until waits for an expression to be true.
func (t *Tab) Until(expression string) error {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if is, err := Value[bool](t, "Boolean("+expression+")"); err != nil || is {
			return err
		}
		if time.Now().After(end) {
			said, _ := Value[string](t, `document.body.innerText.slice(0, 2000)`)
			return fmt.Errorf("%s is not true; the console says %q, the page %q", expression, t.Faults(), said)
		}
	}
}

// Settled waits for the page to have drawn and answered everything.
func (t *Tab) Settled() error {
	return t.Until(`typeof page === "object" && page.started && page.settled === page.state.generation`)
}
