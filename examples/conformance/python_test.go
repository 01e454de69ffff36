package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/conformance/suite"
)

// python returns the interpreter, or skips the test.
func python(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(path, "--version").Run() // one that is there may not run
	}
	if err != nil {
		t.Skip("NOT ASKED: there is no python3 here, so the example in Python is not run")
	}
	return path
}

// The example in Python passes what it claims, and fails what it does not.
func TestPythonExample(t *testing.T) {
	python := python(t)
	status, stdout, stderr := calls("run", "-claims", "python/claims.json", "--", python, "python/answer.py")
	if status != 0 || !strings.Contains(stdout, " passed, 0 failed, ") {
		t.Errorf("status %d, %q:\n%s", status, stderr, stdout)
	}
	more := claimsFile(t, `{"forms":["decide"],"features":["cohorts","trees","borrowWithinCohort","reclaim","within","equals","lendingLimits","borrowingLimits"],"parts":["outcome","victims"]}`)
	if status, stdout, _ := calls("run", "-show", "1", "-claims", more, "--", python, "python/answer.py"); status != 1 || !strings.Contains(stdout, "FAIL decide-") {
		t.Errorf("it claims borrowWithinCohort: status %d:\n%s", status, stdout)
	}
}

// faults are what a program may do wrong: each replaces a text of the example.
var faults = []struct{ file, old, fault string }{
	{"answer.py", "theirs > mine or theirs == mine and not", "theirs > mine + 1 or theirs == mine and not"},                  // a higher priority yields
	{"answer.py", "instant(workload[\"queued\"]) > instant", "instant(workload[\"queued\"]) >= instant"},                     // an equal that is not newer yields
	{"answer.py", "-started, workload.get", "started, workload.get"},                                                         // the oldest first
	{"answer.py", "workload.get(\"uid\", \"\"), workload[\"id\"]", "[-ord(c) for c in workload[\"id\"]]"},                    // the tie by name
	{"answer.py", "return own, equal,", "return not own, equal,"},                                                            // the own queue first
	{"answer.py", "return own, equal, workload.get(\"priority\", 0)", "return own, equal, -workload.get(\"priority\", 0)"},   // the highest first
	{"answer.py", "for w in taken[-2::-1]", "for w in taken[-2:-1]"},                                                         // all but the latest stay taken
	{"answer.py", "for w in taken[-2::-1]", "for w in taken[:-1]"},                                                           // the first goes back first
	{"answer.py", "if self.may_yield(w, needs) is None:", "if False:"},                                                       // a queue loses what is its own
	{"answer.py", "reclaim == \"LowerPriority\" and theirs >= mine", "reclaim == \"LowerPriority\" and theirs > mine"},       // an equal is reclaimed
	{"answer.py", "above = min(above, subtree - kept - max(0, usage - kept) + limit)", "pass"},                               // no borrowing limit
	{"answer.py", "return 0 if limit is None or self.parent is None else", "return 0 if True else"},                          // no lending limit
	{"answer.py", "if not any(all(self.within(node, column) for column in needs) for node in ours)", "if False"},             // reclaim while borrowing
	{"answer.py", "* (1 if pod_set.get(\"totals\") else pod_set[\"count\"])", ""},                                            // one replica counts
	{"gates.py", "lost is None, lost or 0, ", ""},                                                                            // what is lost is forgotten
	{"gates.py", "key=lambda r: (r.signal, r.name)", "key=lambda r: r.signal"},                                               // the tie by name
	{"gates.py", "key=lambda r: (r.offer, r.signal, r.name)", "key=lambda r: (r.offer, r.name)"},                             // the tie by signal
	{"gates.py", "not offer.get(\"Victims\"), lost", "offer.get(\"Victims\", 0) > 0, lost"},                                  // no offer is the cheapest
	{"gates.py", "self.progress in (\"NotEvaluated\", \"Pending\")", "self.progress != \"Reserved\""},                        // who preempts is opened again
	{"gates.py", "self.opened is None and self.signal", "self.signal"},                                                       // an open gate is opened
	{"gates.py", "ends.append(signal + grace)", "pass"},                                                                      // no grace
	{"gates.py", "min(last, turn + leaving)", "last"},                                                                        // a wait without end
	{"gates.py", "if opened is not None:\n        ends", "if opened is not None and chosen is not None:\n        ends"},      // no wake after the last opening
	{"gates.py", "return None, False  # it may fit", "pass  # it may fit"},                                                   // the more preferred is not awaited
	{"gates.py", "return {\"Open\": chosen.name, \"WakeAt\": text(now + timeout)}", "return {\"Open\": chosen.name}"},        // no wake after an opening
	{"gates.py", "        if r.progress == \"Reserved\":\n                return None, True\n", "        pass\n"},            // Preference goes on
	{"gates.py", "if any(r.progress == \"Reserved\" for r in replicas):\n        return None, True\n    waiting", "waiting"}, // quota in another cluster
}

// Each fault changes the answer to a case that is asked.
func TestFaultsChangeCases(t *testing.T) {
	python := python(t)
	claimed, err := os.ReadFile("python/claims.json")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := suite.ParseClaims(claimed)
	if err != nil {
		t.Fatal(err)
	}
	list, err := suite.Cases()
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{"answer.py": suite.Decide, "gates.py": suite.Orchestrate}
	for _, f := range faults {
		t.Run(f.fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{"answer.py", "gates.py", "times.py"} {
				text, err := os.ReadFile(filepath.Join("python", name))
				if err != nil {
					t.Fatal(err)
				}
				if name == f.file {
					if strings.Count(string(text), f.old) != 1 {
						t.Fatalf("%s has %q %d times", name, f.old, strings.Count(string(text), f.old))
					}
					text = []byte(strings.Replace(string(text), f.old, f.fault, 1))
				}
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			one := claims
			one.Forms = []string{forms[f.file]}
			report, err := suite.Run([]string{python, filepath.Join(dir, "answer.py")}, list, one, suite.Options{})
			if err != nil || report.Passed == 0 || report.Failed == 0 || report.Refused+report.Died+report.Malformed > 0 {
				t.Errorf("%v: %d passed, %d failed, %d refused, %d died", err, report.Passed, report.Failed, report.Refused, report.Died)
			}
		})
	}
}
