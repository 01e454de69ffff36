package main

import (
	"strings"
	"testing"
)

// -stuck leaves out what fits or preempts, and counts it; the command below says why the first one waits.
func TestOverviewOfWhatIsStuck(t *testing.T) {
	status, out, said := call(nil, "overview", "-stuck", "-o", "name")
	if want := "evals/long-context-all\nrecsys/two-tower-xl\n"; status != 1 || out != want || said != "" {
		t.Errorf("status %d, %q, want %q: %s", status, out, want, said)
	}
	_, out, _ = call(nil, "overview", "-stuck", "-sample", "cluster")
	const command = "go run ./examples/whatif why evals/long-context-all -sample cluster"
	if strings.Contains(out, "lora-sweep") || !strings.Contains(out, "Of 4 workloads 1 fits now, 1 preempts, 2 do not fit.") || !strings.Contains(out, "  "+command+"\n") {
		t.Errorf("%s", out)
	}
	if status, out, said := call(nil, strings.Fields(command)[3:]...); status != 1 || !strings.HasPrefix(out, "evals/long-context-all does not fit") {
		t.Errorf("status %d, %s%s", status, out, said)
	}
	if status, out, _ := call(nil, "overview", "-queue", "nlp", "-stuck"); status != 0 || strings.Contains(out, "Why the first") || strings.Contains(out, "nlp/lora-sweep") {
		t.Errorf("nothing is stuck: status %d, %s", status, out)
	}
}
