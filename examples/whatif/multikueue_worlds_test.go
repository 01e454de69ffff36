package main

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/workers"
)

func TestWorldsOfMultiKueue(t *testing.T) {
	for name, c := range changed {
		t.Run(name, func(t *testing.T) {
			w := worldOf(t, c.from)
			c.change(w)
			status, got := w.ask(t, c.workload)
			answer := reply{got.Verdict, got.Cluster, got.At}.String()
			text := got.Sentence + got.Design + strings.Join(got.Doubts, "; ")
			if answer != c.want || status != c.status || !strings.Contains(text, c.says) {
				t.Errorf("%s, status %d, want %s, %d: %s\n%+v", answer, status, c.want, c.status, text, got.Workers)
			}
			if got.Verdict == workers.Unknown && (got.Cluster != nil || got.At != nil) {
				t.Errorf("unknown, and %v", got)
			}
		})
	}
}

// Played on, each worker that signals has its turn, and the first that gets its quota ends it.
func TestForecastOfMultiKueue(t *testing.T) {
	for name, c := range map[string]struct {
		from, workload string
		args           []string
		events, says   string
	}{
		"victims are leaving": {"03-victims-leaving", "team-speech/job-asr-large-resume-28ad2", []string{"-until", "30m"}, "09:30:30 a left, 09:30:30 a has quota", "in a at the latest at 09:30:30 (in 30s)"},
		"victims that leave slowly have no more than their turn": {"09-evicted-gate-closed", "team-docs/job-layout-parser-v4-dea7a", []string{"-until", "1h", "-leave", "10m"},
			"09:30:00 a signals, 09:30:00 b gate opens, 09:30:00 b told to stop, 09:35:00 a gate opens, 09:35:00 a told to stop, 09:40:00 b left, 09:40:00 b has quota", "in b at the latest at 09:40:00"},
		"not in time": {"09-evicted-gate-closed", "team-docs/job-layout-parser-v4-dea7a", []string{"-until", "6m", "-leave", "10m", "-timeout", "1m"},
			"09:30:00 a signals, 09:30:00 b gate opens, 09:30:00 b told to stop, 09:31:00 a gate opens, 09:31:00 a told to stop", "no worker gives it quota before 09:36:00"},
		"when its turn comes": {"17-clock-off", "team-video/job-neural-codec-v2-6816f", []string{"-until", "30m"}, "09:32:00 c gate opens, 09:32:00 c told to stop, 09:32:30 c left, 09:32:30 c has quota", "in c at the latest at 09:32:30"},
		"it fits":             {"01-fits-on-one", "team-vision/job-detector-train-v7-0c9b8", []string{"-until", "30m"}, "09:30:00 a has quota, 09:30:00 b signals", "It has its quota in a in the next cycle there."},
	} {
		args := append(append(arguments(t, situations+"/"+c.from), "-workload", c.workload), c.args...)
		_, list := askAll(t, args)
		f := list[0].Forecast
		if f == nil {
			t.Fatalf("%s: there is none", name)
		}
		var events []string
		for _, e := range f.Events {
			events = append(events, e.At.Format("15:04:05")+" "+e.Worker+" "+e.What)
		}
		if got := strings.Join(events, ", "); got != c.events || !strings.Contains(f.Sentence, c.says) {
			t.Errorf("%s: %s\n%s", name, f.Sentence, got)
		}
		if _, text, _ := call(nil, args...); !strings.Contains(text, f.Sentence) {
			t.Errorf("%s: not printed:\n%s", name, text)
		}
	}
	if _, list := askAll(t, append(arguments(t, situations+"/13-preemptor-preempted"), "-until", "30m")); len(list) == 0 || list[0].Forecast != nil {
		t.Errorf("a workload that is reset is played on: %+v", list)
	}
	for _, args := range [][]string{{"-until", "0s"}, {"-leave", "1m"}, {"-until", "1m", "-leave", "-1s"}} {
		if status, _, stderr := call(nil, append(arguments(t, situations+"/03-victims-leaving"), args...)...); status != 2 || stderr == "" {
			t.Errorf("%q: status %d, %s", args, status, stderr)
		}
	}
}

// Victims that are leaving already are told apart from those that are still to be told.
func TestVictimsOfMultiKueueAreCounted(t *testing.T) {
	w := worldOf(t, "03-victims-leaving")
	condition(w.find("a", "Workload", "job-tts-clone-6"), "Evicted", "False", "QuotaReserved", "09:00:00")
	_, text, _ := call(nil, append(arguments(t, w.write(t)), "-workload", "team-speech/job-asr-large-resume-28ad2")...)
	for _, want := range []string{"preempts 2 workloads, 1 of them leaving already", "VICTIM ", "AWAITED ", "gated: would preempt 1 workload"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}
