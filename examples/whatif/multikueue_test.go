package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"

	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/golden"
	"github.com/cedesched/cede/examples/internal/workers"
)

const situations = "testdata/multikueue"

// asked is when the situations are asked about.
const asked = "2026-11-27T09:30:00Z"

// reply is what an answer says that is compared.
type reply struct {
	Verdict string     `json:"verdict"`
	Cluster *string    `json:"cluster"`
	At      *time.Time `json:"at"`
}

func (r reply) String() string {
	cluster, at := "nowhere", ""
	if r.Cluster != nil {
		cluster = *r.Cluster
	}
	if r.At != nil {
		at = " at " + r.At.UTC().Format(time.TimeOnly)
	}
	return r.Verdict + " " + cluster + at
}

// situation is an answer worked out by hand.
type situation struct {
	reply
	Now      string              `json:"now"`
	Workload string              `json:"workload"`
	Victims  map[string][]string `json:"victims"`
	Also     []reply             `json:"also"`
}

// judge says what is wrong with an answer; empty: nothing.
func (s *situation) judge(a *workers.Answer) string {
	got := reply{a.Verdict, a.Cluster, a.At}.String()
	right := []string{s.String()}
	for _, also := range s.Also {
		right = append(right, also.String())
	}
	if !slices.Contains(right, got) {
		return fmt.Sprintf("%s, want %q", got, right)
	}
	for name, want := range s.Victims {
		if victims, is := a.Victims[name]; !is || fmt.Sprint(slices.Sorted(slices.Values(victims))) != fmt.Sprint(slices.Sorted(slices.Values(want))) || (victims == nil) != (want == nil) {
			return fmt.Sprintf("in %s %q yield, want %q", name, victims, want)
		}
	}
	if len(a.Victims) != len(s.Victims) {
		return fmt.Sprintf("workers %v", a.Victims)
	}
	return ""
}

// arguments are those that ask about the files of a directory.
func arguments(t *testing.T, dir string) []string {
	args := []string{"multikueue", "-at", asked}
	files := must(os.ReadDir(dir))(t)
	for _, f := range files {
		name, _, _ := strings.Cut(f.Name(), ".")
		switch {
		case name == "manager":
			args = append(args, "-manager", filepath.Join(dir, f.Name()))
		case len(name) == 1:
			args = append(args, "-worker", name+"="+filepath.Join(dir, f.Name()))
		}
	}
	return args
}

// askAll asks and reads the answers.
func askAll(t *testing.T, args []string) (status int, list []workers.Answer) {
	t.Helper()
	status, stdout, stderr := call(nil, append(args, "-o", "json")...)
	var out struct{ Workloads []workers.Answer }
	if err := json.Unmarshal([]byte(stdout), &out); err != nil || stderr != "" {
		t.Fatalf("%v, %s", err, stderr)
	}
	return status, out.Workloads
}

// All situations are answered as they were worked out by hand, and the same with one workload named and with none; as text nothing
// is wider than the screen.
func TestSituations(t *testing.T) {
	dirs := must(filepath.Glob(filepath.Join(situations, "[0-9]*")))(t)
	statuses := map[string]int{workers.OpensAt: 1, workers.Nothing: 1, workers.Unknown: 3}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var s situation
			if err := json.Unmarshal(must(os.ReadFile(filepath.Join(dir, "answer.json")))(t), &s); err != nil || s.Now != asked {
				t.Fatal(err)
			}
			args := arguments(t, dir)
			one := append(slices.Clip(args), "-workload", s.Workload)
			status, list := askAll(t, one)
			if len(list) != 1 || list[0].Workload != s.Workload || status != statuses[s.Verdict] {
				t.Fatalf("status %d, %d answers", status, len(list))
			}
			if wrong := s.judge(&list[0]); wrong != "" {
				t.Errorf("%s\n%s", wrong, list[0].Sentence)
			}
			_, all := askAll(t, args)
			at := slices.IndexFunc(all, func(a workers.Answer) bool { return a.Workload == s.Workload })
			if at < 0 || s.judge(&all[at]) != "" {
				t.Errorf("without a name: %+v", all)
			}
			turned := []string{"multikueue", "-workload", s.Workload}
			for i := len(args) - 2; i > 0; i -= 2 {
				turned = append(turned, args[i], args[i+1])
			}
			if _, again := askAll(t, turned); !cmp.Equal(list, again) {
				t.Errorf("with the files in another order: %s", cmp.Diff(list, again))
			}
			_, text, _ := callOn(cli.Screen{Width: 80}, nil, one...)
			golden.Check(t, "multikueue/"+filepath.Base(dir)+"/80", text)
			for line := range strings.Lines(text) {
				if runewidth.StringWidth(strings.TrimSuffix(line, "\n")) > 80 {
					t.Errorf("wider than 80: %s", line)
				}
			}
		})
	}
	if len(dirs) != 10 {
		t.Errorf("%d situations", len(dirs))
	}
}

// objects are those of the clusters of a situation, to be changed: "manager", "a", "b", "c".
type world map[string][]map[string]any

// worldOf reads the objects of a situation.
func worldOf(t *testing.T, name string) world {
	w := world{}
	for _, file := range must(filepath.Glob(filepath.Join(situations, name, "*.gz")))(t) {
		unzip := must(gzip.NewReader(bytes.NewReader(must(os.ReadFile(file))(t))))(t)
		var list struct{ Items []map[string]any }
		if err := json.NewDecoder(unzip).Decode(&list); err != nil {
			t.Fatal(err)
		}
		of, _, _ := strings.Cut(filepath.Base(file), ".")
		w[of] = list.Items
	}
	return w
}

// find is the object of a kind and name in a cluster; the name may be the part after the namespace, and its end left out.
func (w world) find(cluster, kind, name string) map[string]any {
	for _, o := range w[cluster] {
		if meta := o["metadata"].(map[string]any); o["kind"] == kind && strings.HasPrefix(fmt.Sprint(meta["name"]), name) {
			return o
		}
	}
	panic(cluster + " has no " + kind + " " + name)
}

// set sets a field; nil takes it away.
func set(o map[string]any, path string, value any) {
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		if o[step] == nil {
			o[step] = map[string]any{}
		}
		o = o[step].(map[string]any)
	}
	if last := steps[len(steps)-1]; value == nil {
		delete(o, last)
	} else {
		o[last] = value
	}
}

// condition sets a condition of an object to a status since a time of the day, with a reason.
func condition(o map[string]any, kind, status, reason, at string) {
	of := o["status"].(map[string]any)
	list, _ := of["conditions"].([]any)
	list = slices.DeleteFunc(list, func(c any) bool { return c.(map[string]any)["type"] == kind })
	if status != "" {
		list = append(list, map[string]any{"type": kind, "status": status, "reason": reason, "lastTransitionTime": "2026-11-27T" + at + "Z", "message": ""})
	}
	of["conditions"] = list
}

// position sets where the gate of MultiKueue of a copy stands.
func position(o map[string]any, position, at string) {
	set(o, "status.preemptionGates", []any{map[string]any{"name": "kueue.x-k8s.io/multikueue", "position": position, "lastTransitionTime": "2026-11-27T" + at + "Z"}})
}

// ask writes the world down and asks about a workload of it.
func (w world) ask(t *testing.T, workload string, args ...string) (int, workers.Answer) {
	t.Helper()
	status, list := askAll(t, append(append(arguments(t, w.write(t)), "-workload", workload), args...))
	return status, list[0]
}

// write writes the world down in a directory.
func (w world) write(t *testing.T) string {
	dir := t.TempDir()
	for name, items := range w {
		text := must(json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}))(t)
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// clone copies an object.
func clone(o map[string]any) (out map[string]any) {
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// deleteObject takes away the objects whose names begin so.
func deleteObject(list []map[string]any, name string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(list), func(o map[string]any) bool {
		return strings.HasPrefix(fmt.Sprint(o["metadata"].(map[string]any)["name"]), name)
	})
}

// deleteKind takes away the objects of a kind.
func deleteKind(list []map[string]any, kind string) []map[string]any {
	return slices.DeleteFunc(slices.Clone(list), func(o map[string]any) bool { return o["kind"] == kind })
}
