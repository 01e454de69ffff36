package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const situations = "../../whatif/testdata/multikueue"

// several is the input of [Clusters] for the files of a directory.
func several(t *testing.T, dir string, names ...string) *bytes.Buffer {
	t.Helper()
	var list []map[string]any
	var texts bytes.Buffer
	for _, name := range names {
		text := must(os.ReadFile(filepath.Join(dir, name)))(t)
		list = append(list, map[string]any{"name": name, "size": len(text)})
		texts.Write(text)
	}
	head := must(json.Marshal(map[string]any{"now": "2026-11-27T09:30:00Z", "files": list}))(t)
	return bytes.NewBuffer(slices.Concat(head, []byte("\n"), texts.Bytes()))
}

// reply is what an answer says that is compared.
type reply struct {
	Verdict string
	Cluster *string
	At      *string
}

func (r reply) String() string { return fmt.Sprint(r.Verdict, text(r.Cluster), text(r.At)) }

func text(s *string) string {
	if s == nil {
		return " -"
	}
	return " " + *s
}

// The page gives each situation the answer that was worked out by hand.
func TestClusters(t *testing.T) {
	dirs := must(filepath.Glob(filepath.Join(situations, "[0-9]*")))(t)
	for _, dir := range dirs {
		var names []string
		for _, f := range must(filepath.Glob(filepath.Join(dir, "*.gz")))(t) {
			names = append(names, filepath.Base(f))
		}
		var want struct {
			reply
			Workload string
			Victims  map[string][]string
			Also     []reply
		}
		if err := json.Unmarshal(must(os.ReadFile(filepath.Join(dir, "answer.json")))(t), &want); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Workloads []struct {
				reply
				Workload string
				Victims  map[string][]string
			}
		}
		if err := json.Unmarshal(must(Clusters(several(t, dir, names...)))(t), &got); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(got.Workloads, func(a struct {
			reply
			Workload string
			Victims  map[string][]string
		}) bool {
			return a.Workload == want.Workload
		})
		if i < 0 {
			t.Errorf("%s: nothing about %s", dir, want.Workload)
			continue
		}
		a, right := got.Workloads[i], []string{want.String()}
		for _, also := range want.Also {
			right = append(right, also.String())
		}
		if !slices.Contains(right, a.String()) || fmt.Sprint(a.Victims) != fmt.Sprint(want.Victims) {
			t.Errorf("%s: %v, %v, want %q, %v", dir, a.reply, a.Victims, right, want.Victims)
		}
	}
	if len(dirs) != 10 {
		t.Errorf("%d situations", len(dirs))
	}
}

// What cannot be answered about is said with the name of the file.
func TestClustersRefuses(t *testing.T) {
	dir := filepath.Join(situations, "03-victims-leaving")
	for want, in := range map[string]*bytes.Buffer{
		"none of the files has a MultiKueueCluster": several(t, dir, "a.json.gz", "b.json.gz"),
		"both have objects of MultiKueue":           several(t, dir, "manager.json.gz", "manager.json.gz", "a.json.gz"),
		"answer.json: item 1: no kind":              several(t, dir, "manager.json.gz", "answer.json"),
		"EOF":                                       bytes.NewBufferString("{}"),
		"invalid character":                         bytes.NewBufferString("x\n"),
	} {
		if _, err := Clusters(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
