package queue_test

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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
	"Created":              "read by NewerByReservation alone, for which cycle.Cycle.Alike adds it",
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

// Who is admitted may be somebody that yields, or keep others from yielding to one that is gated.
func TestAdmissionBringsBack(t *testing.T) {
	for in, gains := range map[string]bool{"other": true, "best": false} { // best may not preempt
		for n, why := range []queue.RequeueReason{queue.NoCandidates, queue.NoFit, queue.Gated, queue.NoCandidates} {
			p := pending(t, waits("a", in, 9, 0, 5), waits("b", in, 0, 0, 1), waits("far", "strict", 0, 0, 1))
			p = must(p.Requeue(headOf(p, "a"), queue.Requeue{Reason: why, Alone: n == 3}))(t)
			read := headOf(p, "b")
			if _, at, _ := must(p.Admit("far"))(t).Find("a"); at.Activity != queue.Inadmissible {
				t.Errorf("%s, %v: an admission in another tree brings it back", in, why)
			}
			p = must(p.Admit("b"))(t)
			want := gains && (why == queue.NoCandidates || why == queue.Gated)
			if _, at, _ := p.Find("a"); (at.Activity == queue.Active) != want {
				t.Errorf("%s, %v: it stands %v", in, why, at.Activity)
			}
			late := must(must(pending(t, waits("c", in, 0, 0, 1), read.Workload).Admit("b"))(t).Requeue(
				queue.Head{Workload: waits("c", in, 0, 0, 1), EventsSeen: read.EventsSeen}, queue.Requeue{Reason: why}))(t)
			if _, at, _ := late.Find("c"); (at.Activity == queue.Active) != want {
				t.Errorf("%s, %v: one that was asked before the admission stands %v", in, why, at.Activity)
			}
		}
	}
}

// So it may by rules, whatever the policies are.
func TestAdmissionBringsBackByRules(t *testing.T) {
	p := pending(t, waits("a", "best", 9, 0, 5), waits("b", "best", 0, 0, 1))
	ruled := slices.Clone(queues)
	for i := range ruled {
		ruled[i].Rules = "rules"
	}
	for _, queues := range [][]queue.Queue{queues, ruled} {
		of := must(p.Configure(cohorts, queues))(t)
		of = must(of.Requeue(headOf(of, "a"), queue.Requeue{Reason: queue.NoCandidates, Alone: true}))(t)
		if _, at, _ := must(of.Admit("b"))(t).Find("a"); (at.Activity == queue.Active) != (queues[0].Rules != "") {
			t.Errorf("rules %q: it stands %v", queues[0].Rules, at.Activity)
		}
	}
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

// What a JSON round trip keeps of a head and of how it goes back is all there is.
func TestHeadsArePlainData(t *testing.T) {
	p := pending(t, waits("a", "best", 0, 1, 5), waits("b", "best", 0, 2, 5)).Release("best")
	head, back := headOf(p, "a"), queue.Requeue{Reason: queue.NoCandidates, RetryAt: minute(9), WithinNominal: true}
	want := must(p.Requeue(head, back))(t)
	for _, v := range []any{&head, &back} {
		data, err := json.Marshal(v)
		if err == nil {
			reflect.ValueOf(v).Elem().SetZero()
			err = json.Unmarshal(data, v)
		}
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
	}
	got := must(p.Requeue(head, back))(t)
	for _, id := range []string{"a", "b"} {
		_, x, _ := want.Find(id)
		if _, y, _ := got.Find(id); x != y || y.Activity != queue.Inadmissible {
			t.Errorf("%s stands %+v after the round trip, else %+v", id, y, x)
		}
	}
}
