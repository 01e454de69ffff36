package queue_test

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/workload"
)

// excused is the fields by which no decision tells two workloads of a queue apart. A new
// field is none of them, unless it is added here, with the reason.
var excused = map[string]string{
	"ID":                   "a name",
	"UID":                  "a name",
	"Queue":                "those of another queue are never compared",
	"LocalQueue":           "read of workloads that run alone",
	"Created":              "read only by rules",
	"Queued":               "those that are alike are ordered by it, and none before the bar steps aside",
	"ReservedAt":           "means nothing for a workload that waits",
	"AdmittedAt":           "means nothing for a workload that waits",
	"Evicted":              "means nothing for a workload that waits",
	"Loss.":                "means nothing for a workload that waits",
	"PodSets[].Name":       "a name",
	"Gates.States[].Since": "whether all are open is what counts",
	"Gates.Blocked.":       "a signal to the manager",
}

// Every field of a workload counts, or is excused.
func TestAlikeReadsEveryField(t *testing.T) {
	full := func() *workload.Workload {
		w := new(workload.Workload)
		for path, v := range leaves(t, reflect.ValueOf(w).Elem(), "", true) {
			set(t, path, v, 1)
		}
		return w
	}
	base := queue.Alike(full())
	paths := leaves(t, reflect.ValueOf(full()).Elem(), "", false)
	if len(paths) < 20 || !strings.HasPrefix(base, "{") {
		t.Fatalf("%d fields, %s", len(paths), base)
	}
	for path := range paths {
		w := full()
		set(t, path, leaves(t, reflect.ValueOf(w).Elem(), "", false)[path], 2)
		other, why := queue.Alike(w), ""
		for prefix, reason := range excused {
			if path == prefix || strings.HasSuffix(prefix, ".") && strings.HasPrefix(path, prefix) {
				why = reason
			}
		}
		if !strings.HasPrefix(other, "{") {
			t.Errorf("%s: no JSON form: %s", path, other)
		}
		if differs := other != base; differs == (why != "") {
			t.Errorf("%s: told apart: %t, excused: %q", path, differs, why)
		}
	}
	open := full()
	open.Gates = gate.Gates{Names: []string{"g"}}.Opened("g", noon)
	closed := full()
	closed.Gates = gate.Gates{Names: []string{"h"}}
	if queue.Alike(open) == queue.Alike(closed) {
		t.Error("a closed gate is not told from an open one")
	}
}

// leaves returns the values under one that have no fields, by path; grow gives a pointer,
// slice or map one element.
func leaves(t *testing.T, v reflect.Value, path string, grow bool) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	add := func(more map[string]reflect.Value) {
		for p, v := range more {
			all[p] = v
		}
	}
	_, isTime := v.Interface().(time.Time)
	_, isMinimum := v.Interface().(quota.OptionalInt64)
	_, isDuration := v.Interface().(quota.OptionalDuration)
	switch k := v.Kind(); {
	case isTime, isMinimum, isDuration:
		all[path] = v
	case k == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				t.Fatalf("%s.%s: say in this test how to set it", path, f.Name)
			}
			add(leaves(t, v.Field(i), strings.TrimPrefix(path+"."+f.Name, "."), grow))
		}
	case k == reflect.Pointer:
		if grow {
			v.Set(reflect.New(v.Type().Elem()))
		}
		add(leaves(t, v.Elem(), path, grow))
	case k == reflect.Slice:
		if grow {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		add(leaves(t, v.Index(0), path+"[]", grow))
	case k == reflect.Map:
		all[path] = v
	default:
		all[path] = v
	}
	return all
}

// set gives a value one of two contents that is not zero.
func set(t *testing.T, path string, v reflect.Value, which int) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = minute(which)
		return
	case *quota.OptionalInt64:
		*x = workload.AtLeast(int64(which))
		return
	case *quota.OptionalDuration:
		*x = quota.Some(time.Duration(which))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint("s", which))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(which))
	case reflect.Uint8: // a constant
		v.SetUint(uint64(2 - which))
		if _, err := v.Interface().(encoding.TextMarshaler).MarshalText(); err != nil { // zero is none
			v.SetUint(2)
		}
	case reflect.Bool:
		v.SetBool(which == 1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		set(t, path, key, which)
		set(t, path, value, which)
		v.SetMapIndex(key, value)
	default:
		t.Fatalf("%s: say in this test how to set a %v", path, v.Type())
	}
}

// A workload that no decision would treat as it treated the first is asked; and what makes
// them alike no longer brings those back that were.
func TestUnlikeIsAsked(t *testing.T) {
	first, second := waits("a", "best", 0, 1, 5), waits("b", "best", 0, 2, 5)
	first.NeverPreempts = true
	wantHeads(t, "the first one preempts nobody", requeue(t, pending(t, first, second), "a", queue.NoCandidates), "b")
	second.NeverPreempts = true
	p := requeue(t, pending(t, first, second), "a", queue.NoCandidates)
	wantHeads(t, "neither does the second", p)
	second.NeverPreempts = false
	wantHeads(t, "now it may", must(p.Update(second))(t), "b")

	second.NeverPreempts = true
	says := func(w workload.Workload) string { return w.ID }
	p = pending(t, first, second).AlikeBy(says)
	if h := headOf(p, "a"); h.Alike != "a" {
		t.Errorf("%q is said of a", h.Alike)
	}
	p = requeue(t, p, "a", queue.NoCandidates)
	wantHeads(t, "the caller tells them apart", p, "b")
	wantHeads(t, "and no longer", p.AlikeBy(nil), "a")
}

// Workloads wait before flavors are assigned.
func TestWithoutFlavors(t *testing.T) {
	w := waits("a", "best", 0, 0, 1)
	w.PodSets[0].Requests[0].Flavor = ""
	p := pending(t, w)
	if got := headOf(p, "a").Workload; !gocmp.Equal(got, w) {
		t.Errorf("%+v", got)
	}
	wantHeads(t, "one with a flavor is another", requeue(t, must(p.Add(waits("b", "best", 0, 1, 1)))(t), "a", queue.NoFit), "b")
}
