package plugin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// minTables is the number of tests of kube-scheduler that must have run.
const minTables = 166

// minCompared is the number of these that count how often filters are asked.
const minCompared = 20

// kube-scheduler's own tests of its preemption pass with cede in place of the search on one
// node. The tests are those of the module that go.mod names. They and the plugin that they are
// about are laid over an empty package while they run; nothing of them is kept.
//
// They count how often filters are asked. cede does not ask in the order of kube-scheduler: it looks
// at room first. So another check is laid in: no test asks filters more often than kube-scheduler
// does, but for once on each node where preemption makes room, and all together ask less often.
// Questions for the status of a node do not count: only these tests want that status.
func TestTablesOfKubeScheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles tests of kube-scheduler")
	}
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption").Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := strings.TrimSpace(string(out)), t.TempDir()
	patch := func(file, before, after string) string {
		data, err := os.ReadFile(filepath.Join(theirs, file))
		if err != nil || strings.Count(string(data), before) != 1 {
			t.Fatalf("%s: not one %q: %v", file, before, err)
		}
		return strings.Replace(string(data), before, after, 1)
	}
	search := patch("default_preemption.go", "func (pl *DefaultPreemption) SelectVictimsOnNode(", "func (pl *DefaultPreemption) selectVictimsOnNode(")
	search = strings.Replace(search, "import (", "import (\n\"github.com/cedesched/cede/examples/kubescheduler/plugin\"\n", 1)
	search += `
func (pl *DefaultPreemption) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, pod *v1.Pod, info fwk.NodeInfo, all []*preemption.DomainVictim, budgets []*policy.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	return plugin.SelectVictims(plugin.Hooks{Features: pl.fts, IsEligiblePod: pl.IsEligiblePod, MoreImportantVictim: pl.MoreImportantVictim}, pl.fh, ctx, state, pod, info, all, budgets)
}
`
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	plugin, tests, overlay := filepath.Join(ours, "plugin.go"), filepath.Join(ours, "plugin_test.go"), filepath.Join(ours, "overlay.json")
	counted := patch("default_preemption_test.go", "if fakePlugin.NumFilterCalled-prevNumFilterCalled != tt.expectedNumFilterCalled[cycle] {", `
				asked, most := fakePlugin.NumFilterCalled-prevNumFilterCalled-plugin.AskedForStatus(), tt.expectedNumFilterCalled[cycle]
				t.Logf("filters are asked %d of %d times", asked, most)
				if asked > most+int32(len(tt.expected[cycle])) {`)
	counted = strings.Replace(counted, "var prevNumFilterCalled int32", "prevNumFilterCalled := 0*plugin.AskedForStatus() // counted anew", 1)
	counted = strings.Replace(counted, "import (", "import (\n\"github.com/cedesched/cede/examples/kubescheduler/plugin\"\n", 1)
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(here, "select.go"):             filepath.Join(here, "testdata/select.go"),
		filepath.Join(here, "tables/plugin.go"):      plugin,
		filepath.Join(here, "tables/plugin_test.go"): tests,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{
		plugin: []byte(search), overlay: replace, tests: []byte(counted),
	} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(ours, "tables.test") // the directory of the package does not exist: the tests run in another
	if text, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "./tables").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	run := exec.Command(program, "-test.v")
	run.Dir = ours
	text, err := run.CombinedOutput()
	passed, failed := 0, []string(nil)
	results := regexp.MustCompile(`(?m)^ +--- (PASS|FAIL): (\S+) `).FindAllStringSubmatch(string(text), -1)
	for _, r := range results {
		if slices.ContainsFunc(results, func(o []string) bool { return strings.HasPrefix(o[2], r[2]+"/") }) {
			continue // it has parts
		}
		if r[1] == "PASS" {
			passed++
		} else {
			failed = append(failed, r[2])
		}
	}
	compared, calls, most := 0, 0, 0
	for _, n := range regexp.MustCompile(`filters are asked (\d+) of (\d+) times`).FindAllStringSubmatch(string(text), -1) {
		got, _ := strconv.Atoi(n[1]) // digits alone
		want, _ := strconv.Atoi(n[2])
		compared, calls, most = compared+1, calls+got, most+want
	}
	t.Logf("%d tests pass; in %d of them filters are asked %d times, by kube-scheduler %d times", passed, compared, calls, most)
	if compared < minCompared || calls >= most {
		t.Errorf("in %d tests filters are asked %d times, want fewer than %d", compared, calls, most)
	}
	if err != nil || len(failed) > 0 || passed < minTables {
		t.Errorf("%d tests pass, want %d; failed: %v: %v\n%s", passed, minTables, failed, err, text)
	}
}
