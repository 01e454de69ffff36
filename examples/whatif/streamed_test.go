package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/cli"
)

// writes keeps what is written, write by write, and interrupts after some of them.
type writes struct {
	list  []string
	after int
	end   context.CancelCauseFunc
}

func (w *writes) Write(p []byte) (int, error) {
	if w.list = append(w.list, string(p)); w.end != nil && len(w.list) == w.after {
		w.end(errors.New("Ctrl-C"))
	}
	return len(p), nil
}

// interrupted runs the program, which is interrupted after so many writes; zero: before the first.
func interrupted(after int, args ...string) (status int, out *writes) {
	ctx, end := context.WithCancelCause(context.Background())
	out = &writes{after: after, end: end}
	if after == 0 {
		end(errors.New("Ctrl-C"))
	}
	std := stdio{out: out, err: new(strings.Builder), screen: cli.Screen{Width: 80}, name: "whatif", clock: noon,
		until: func() (context.Context, context.CancelFunc) { return ctx, func() {} }}
	return run(args, std), out
}

// Rows and findings are written one by one, as they are found.
func TestResultsAsTheyCome(t *testing.T) {
	for _, c := range []struct {
		args []string
		rows []string // each in a write of its own
	}{
		{[]string{"overview"}, []string{"evals/long-context-all", "nlp/lora-sweep", "recsys/two-tower-xl", "vision/detector-train", "Of 4 workloads"}},
		{[]string{"lint", "-f", "../internal/answers/samples/trouble.yaml"}, []string{"lendingLimit of f/cpu", `cohort "lab": its quota`, `queue "forgotten": its quota`, "its weight is 0", "8 findings."}},
	} {
		_, out := interrupted(1000, c.args...)
		at := 0
		for _, row := range c.rows {
			for at < len(out.list) && !strings.Contains(out.list[at], row) {
				at++
			}
			if at++; at > len(out.list) {
				t.Errorf("%v: %s has no write of its own: %q", c.args, row, out.list)
				break
			}
		}
		_, whole, _ := callOn(cli.Screen{Width: 80}, nil, c.args...)
		if got := strings.Join(out.list, ""); got != whole {
			t.Errorf("%v: %s, want %s", c.args, got, whole)
		}
	}
}

// Ctrl-C keeps what there is, and says that it ended the search; a status claims no more than was looked at.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		after  int
		args   []string
		status int
		has    []string
		hasNot string
	}{
		{0, []string{"overview"}, 3, []string{"4 workloads wait.", "Of 4 workloads 4 were not looked at.", "Note: 4 workloads were not looked at: Ctrl-C ended it."}, "lora-sweep  "},
		{2, []string{"overview"}, 1, []string{"nlp/lora-sweep", "Of 4 workloads 1 fits now, 1 does not fit, 2 were not looked at."}, "two-tower"},
		{0, []string{"overview", "-o", "json"}, 3, []string{"4 workloads were not looked at: Ctrl-C ended it"}, "lora-sweep"},
		{0, []string{"lint"}, 3, []string{"Nothing was found so far", "Ctrl-C ended it"}, "Nothing was found."},
		{0, []string{"lint", "-f", "../internal/answers/samples/trouble.yaml"}, 1, []string{"8 findings so far", "Ctrl-C ended it"}, "8 findings."},
		{0, []string{"lint", "-o", "json"}, 3, []string{"Ctrl-C ended it"}, ""},
	} {
		status, out := interrupted(c.after, c.args...)
		text := strings.Join(strings.Fields(strings.Join(out.list, "")), " ")
		for _, has := range c.has {
			if !strings.Contains(text, has) {
				t.Errorf("%v after %d: no %q in %s", c.args, c.after, has, text)
			}
		}
		if status != c.status || c.hasNot != "" && strings.Contains(text, c.hasNot) {
			t.Errorf("%v after %d: status %d, want %d, without %q: %s", c.args, c.after, status, c.status, c.hasNot, text)
		}
	}
}
