//go:build unix || windows

package browser_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/playground/site"
)

// firefox is a Firefox that is driven over its Marionette protocol: messages of JSON with their lengths before them.
type firefox struct {
	*testing.T
	conn net.Conn
	in   *bufio.Reader
	last int
}

// findFirefox returns the program; it skips where there is none, and fails where browsers are required.
func findFirefox(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"firefox-esr", "firefox"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(required) == "required" {
		t.Fatal("there is no Firefox in the PATH")
	}
	fmt.Fprintln(os.Stderr, "there is no Firefox in the PATH: the page was not tried there")
	t.Skip("there is no Firefox in the PATH")
	return ""
}

func startFirefox(t *testing.T) *firefox {
	t.Helper()
	profile := t.TempDir()
	// Port 0 is any free one; it is written into the profile.
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(`user_pref("marionette.port", 0);`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(findFirefox(t), "--headless", "--marionette", "--no-remote", "--profile", profile)
	c.Env = append(os.Environ(), "HOME="+profile)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	f := &firefox{T: t}
	for end := time.Now().Add(patience); f.conn == nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort")); err == nil {
			f.conn, _ = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		}
	}
	t.Cleanup(func() {
		if f.conn != nil { // it ends all its processes, and writes to its profile no more
			fmt.Fprint(f.conn, message(`[0,1000000,"Marionette:Quit",{"flags":["eForceQuit"]}]`))
		}
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			_ = c.Process.Kill()
			<-ended
		}
		if f.conn != nil {
			_ = f.conn.Close()
		}
	})
	if f.conn == nil {
		t.Fatal("Firefox does not listen")
	}
	_ = f.conn.SetDeadline(time.Now().Add(2 * patience))
	f.in = bufio.NewReader(f.conn)
	f.read() // who it is
	f.command("WebDriver:NewSession", map[string]any{})
	return f
}

func message(text string) string { return strconv.Itoa(len(text)) + ":" + text }

func (f *firefox) read() []byte {
	f.Helper()
	size, err := f.in.ReadString(':')
	n, bad := strconv.Atoi(strings.TrimSuffix(size, ":"))
	if err != nil || bad != nil {
		f.Fatalf("the length of a message is %q: %v", size, err)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(f.in, data); err != nil {
		f.Fatal(err)
	}
	return data
}

// command sends a command and returns its value.
func (f *firefox) command(name string, arguments map[string]any) json.RawMessage {
	f.Helper()
	f.last++
	data, _ := json.Marshal([]any{0, f.last, name, arguments})
	if _, err := io.WriteString(f.conn, message(string(data))); err != nil {
		f.Fatal(err)
	}
	var reply [4]json.RawMessage
	if err := json.Unmarshal(f.read(), &reply); err != nil || string(reply[2]) != "null" {
		f.Fatalf("%s: %s, %v", name, reply[2], err)
	}
	var result struct{ Value json.RawMessage }
	_ = json.Unmarshal(reply[3], &result)
	return result.Value
}

func (f *firefox) eval(expression string) string {
	f.Helper()
	var text string
	value := f.command("WebDriver:ExecuteScript", map[string]any{"script": "return String(" + expression + ")", "args": []any{}, "sandbox": nil})
	if err := json.Unmarshal(value, &text); err != nil {
		f.Fatalf("%s: %s", expression, value)
	}
	return text
}

func (f *firefox) until(expression string) {
	f.Helper()
	for end := time.Now().Add(patience); f.eval("Boolean("+expression+")") != "true"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("%s is not true; the page says %q", expression, f.eval("document.body.innerText.slice(0, 2000)"))
		}
	}
}

// The page works in Firefox as in Chromium: it answers, opens a queue below its row, and changes a quota.
func TestFirefox(t *testing.T) {
	t.Parallel()
	findFirefox(t)
	server := httptest.NewServer(site.Handler(site.Files(need(t))))
	t.Cleanup(server.Close)
	f := startFirefox(t)
	f.command("WebDriver:Navigate", map[string]any{"url": server.URL})
	const settled = `typeof page === "object" && page.started && page.settled === page.state.generation`
	f.until(settled)
	f.until(`page.byId("answer").innerText.includes("fits once evals/arena-judge (leaving already), evals/regression-suite")`)
	f.eval(`[...document.querySelectorAll("#rows .row")].find((e) => e.textContent.startsWith("vision")).click()`)
	f.until(`page.byId("node").innerText.startsWith("vision")`)
	f.until(`Math.abs(page.byId("node").getBoundingClientRect().top - document.querySelector("#rows .opened")?.getBoundingClientRect().bottom) < 2`)
	f.eval(`(() => { const e = document.querySelector('#node input[aria-label="nominal of h100/nvidia.com/gpu"]'); e.value = "64"; e.dispatchEvent(new Event("change")) })()`)
	f.until(settled + ` && page.byId("answer").innerText.includes("fits now") && page.byId("node").innerText.includes("fits with the changes")`)
	if said := f.eval(`page.byId("error").innerText`); said != "" {
		t.Errorf("the page says %q", said)
	}
}
