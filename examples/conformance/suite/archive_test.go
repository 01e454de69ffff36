package suite

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/preemption"
)

var (
	update  = flag.Bool("update", false, "write the schemas anew")
	anew    = flag.String("anew", "", "choose the cases of these `FORMS` of the archive anew, with commas between them")
	readmit = flag.Bool("readmit", false, "answer the cases of the archive again, and drop those that cannot be read any more")
)

const archiveFile = "testdata/" + Version + "/cases.jsonl.gz"

// scans says how many seeds of each form are looked at, and how many cases are kept at most.
var scans = map[string]struct{ seeds, most int }{
	Decide: {10_000, 1_500}, Place: {6_000, 400}, Orchestrate: {4_000, 300}, Cycles: {1_200, 250},
	Settle: {2_000, 150}, Move: {2_000, 150}, Clear: {2_000, 150},
}

// also has seeds beyond the scans, of cases that nothing else is like: a queue whose turn comes again when it is back within its quota.
var also = map[string][]int{Decide: {22_728, 39_060, 40_728}}

// choose takes the cases of a form in the order of their seeds: one that reaches something that fewer than four before it reach, or two
// things together that none does; and of what is asked of simple schedulers a hundred of each outcome.
func choose(form string) (list []Case) {
	singles, pairs, simpleOnes := map[string]int{}, map[[2]string]bool{}, map[string]int{}
	for seed := 0; seed < scans[form].seeds && len(list) < scans[form].most; seed++ {
		c, ok := generate(form, seed)
		if !ok {
			continue
		}
		complete(&c)
		all := append(slices.Clone(c.Reaches), c.Features...)
		keep := false
		for _, name := range all {
			keep = keep || singles[name] < 4
		}
		if form == Decide && seed%4 == 0 {
			kind := fmt.Sprint(seed/4%3, c.Reaches[slices.IndexFunc(c.Reaches, isOutcome)])
			if simpleOnes[kind] < 100 {
				simpleOnes[kind]++
				keep = true
			}
		}
		for i, a := range all {
			for _, b := range all[:i] {
				keep = keep || !pairs[[2]string{a, b}]
			}
		}
		if !keep {
			continue
		}
		list = append(list, c)
		for i, a := range all {
			singles[a]++
			for _, b := range all[:i] {
				pairs[[2]string{a, b}] = true
			}
		}
	}
	for _, seed := range also[form] {
		if c, ok := generate(form, seed); ok {
			complete(&c)
			list = append(list, c)
		}
	}
	return list
}

func isOutcome(name string) bool { return len(name) > 8 && name[:8] == "outcome " }

// complete adds what a case uses and what it reaches.
func complete(c *Case) {
	var err error
	c.Features, _, err = FeaturesOf(c.Form, c.Question)
	must(err)
	c.Reaches = reaches(c)
}

// The cases are data: of the generators that chose them only their seeds are left. What they use and reach is asked again of some.
func TestArchive(t *testing.T) {
	switch {
	case *anew != "":
		list := cases(t)
		for _, form := range strings.Split(*anew, ",") {
			list = append(slices.DeleteFunc(list, func(c Case) bool { return c.Form == form }), choose(form)...)
		}
		slices.SortStableFunc(list, func(a, b Case) int {
			return cmp.Compare(slices.Index(Forms(), a.Form), slices.Index(Forms(), b.Form))
		})
		writeArchive(t, list)
	case *readmit:
		writeArchive(t, readmitted(t))
	}
	list := cases(t)
	if len(archive) > 5<<20 || len(list) > 5_000 || len(list) < 1_000 {
		t.Errorf("%d cases in %d bytes", len(list), len(archive))
	}
	byForm := map[string]int{}
	for i := range list {
		c := &list[i]
		byForm[c.Form]++
		if unknown := unknownPaths(c.Form, c.Answer); len(unknown) > 0 {
			t.Errorf("%s: no part has %s", c.ID, unknown)
		}
		_, unknown, err := FeaturesOf(c.Form, c.Question)
		if err != nil || len(unknown) > 0 {
			t.Errorf("%s: %v; no feature has %s", c.ID, err, unknown)
		}
		if i%40 > 0 { // reaching takes most of the time
			continue
		}
		asked := *c
		complete(&asked)
		if !slices.Equal(asked.Features, c.Features) || !slices.Equal(asked.Reaches, c.Reaches) {
			t.Errorf("%s uses and reaches something else", c.ID)
		}
	}
	for _, form := range Forms() {
		if byForm[form] < 50 {
			t.Errorf("%d cases of %s", byForm[form], form)
		}
	}
}

// readmitted returns the cases that can still be read, answered again. It says which answers changed.
func readmitted(t *testing.T) (list []Case) {
	t.Helper()
	for _, c := range cases(t) {
		answer, err := Answer(c.Form, c.Question)
		if err != nil {
			t.Logf("%s goes: %v", c.ID, err)
			continue
		}
		if differ, _, err := Differ(c.Form, c.Answer, answer, all); err != nil || len(differ) > 0 {
			t.Logf("%s has another answer: %v %v", c.ID, differ, err)
		}
		c.Answer = answer
		complete(&c)
		list = append(list, c)
	}
	return list
}

func all(string) bool { return true }

func cases(t *testing.T) []Case {
	t.Helper()
	list, err := readArchive() // as an update wrote it
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("the archive is empty")
	}
	return list
}

// Every answer of the archive is what cede answers. Another program is asked the same by Run.
func TestAnswers(t *testing.T) {
	list := cases(t)
	const parts = 4
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < len(list); i += parts {
				if testing.Short() && i%5 > 0 {
					continue
				}
				c := &list[i]
				got, err := Answer(c.Form, c.Question)
				if err != nil {
					t.Errorf("%s: %v", c.ID, err)
					continue
				}
				differ, asked, err := Differ(c.Form, c.Answer, got, all)
				if err != nil || len(differ) > 0 || len(asked) == 0 {
					t.Errorf("%s: cede answers otherwise in %v of %v: %v", c.ID, differ, asked, err)
				}
			}
		})
	}
}

func writeArchive(t *testing.T, list []Case) {
	t.Helper()
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	out := json.NewEncoder(zip)
	for i := range list {
		if err := out.Encode(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	archive = b.Bytes()
	if err := os.WriteFile(archiveFile, archive, 0o644); err != nil {
		t.Fatal(err)
	}
}

// beyond says of what no case reaches why it cannot be reached.
var beyond = map[string]string{
	"rule Guarded":   "guards are code of the caller, and have no JSON form",
	"step RoomAsked": "a Room is code of the caller, and has no JSON form",
}

// The cases reach every rule and every step that decisions trace, but those that cannot be reached. Two rules are in no step, and only
// in blockers.
func TestReaches(t *testing.T) {
	seen := map[string]int{}
	for _, c := range cases(t) {
		for _, name := range append(c.Reaches, c.Features...) {
			seen[name]++
		}
	}
	seen["rule FairShare"], seen["rule QueueInactive"] = seen["blockers rule FairShare"], seen["blockers rule QueueInactive"]
	for _, name := range tracedBy() {
		switch why := beyond[name]; {
		case seen[name] == 0 && why == "":
			t.Errorf("no case reaches %s", name)
		case seen[name] > 0 && why != "":
			t.Errorf("%s is reached, although %s", name, why)
		}
	}
	for _, f := range features {
		if seen[f.Name] == 0 {
			t.Errorf("no case uses %s", f.Name)
		}
	}
	for reason := preemption.InClusterQueue; reason <= preemption.ConfigurablePreemption; reason++ {
		if seen["victims reason "+reason.String()] == 0 {
			t.Errorf("no victim yields by %v", reason)
		}
	}
	for rule := preemption.RuleWithinClusterQueue; rule <= preemption.RuleLimit; rule++ {
		if seen["blockers rule "+rule.String()] == 0 && rule != preemption.RuleGuarded {
			t.Errorf("no blocker %v", rule)
		}
	}
	for outcome := preemption.Fits; outcome <= preemption.Impossible; outcome++ {
		if seen["outcome "+outcome.String()] == 0 {
			t.Errorf("no outcome %v", outcome)
		}
	}
	if testing.Verbose() {
		for _, name := range slices.Sorted(maps.Keys(seen)) {
			t.Log(seen[name], name)
		}
	}
}
