package guard

import (
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/preemption/cycle"
	"github.com/cedesched/cede/preemption/explain"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/preemption/safe"
	"github.com/cedesched/cede/queue"
	"github.com/cedesched/cede/queue/limits"
	"github.com/cedesched/cede/quota/fairshare"
	"github.com/cedesched/cede/workload"
)

// enum is an exported type of integers with constants.
type enum struct {
	name  string // with its package
	check func(t *testing.T)
}

// none stands for the text of a zero value that is none of the constants.
const none = "-"

// enums is every exported type of integers that has constants, with their texts by value.
// The texts are part of the JSON forms: none is ever changed or taken away.
var enums = []enum{
	texts[gate.Position]("Closed", "Open"),
	texts[gate.Progress]("NotEvaluated", "Pending", "Reserved", "Preempting"),
	texts[gate.ReplicaOrder]("FirstSignal", "Preference", "Cheapest"),
	texts[gate.Rules]("Design", "Kueue019"),
	texts[limits.Scope](none, "Global", "PreemptingClusterQueue", "PreemptedClusterQueue", "PreemptedWorkload"),
	texts[minruntime.Method]("lca", "queue"),
	texts[minruntime.Start]("Admission", "Reservation"),
	textsOrEmpty[queue.FlavorPreference]("BorrowingOverPreemption", "PreemptionOverBorrowing"),
	texts[queue.FungibilityPolicy]("", "MayStopSearch", "TryNextFlavor"),
	texts[queue.Activity](none, "Active", "Inadmissible", "Away"),
	textsOrEmpty[queue.VictimPolicy]("Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any"),
	texts[queue.RequeueReason](none, "FailedAfterNomination", "PendingPreemption", "Gated", "NoFit", "NoCandidates", "Invalid", "Borrows"),
	textsOrEmpty[queue.Strategy]("BestEffortFIFO", "StrictFIFO"),
	texts[workload.LabelOperator](none, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
	texts[workload.TaintEffect]("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
	textsOrEmpty[workload.TolerationOperator]("Equal", "Exists"),
	texts[fairshare.Rule](none, "FairShare", "NonPreemptibleQuota", "SameBranch", "NotOver", "Saturation"),
	texts[preemption.AssignmentMode](none, "NoFit", "Preempt", "Fit"),
	texts[preemption.FairStrategy](none, "LessThanOrEqualToFinalShare", "LessThanInitialShare"),
	texts[explain.WayKind](none, "Time", "Priority", "Replicas", "Flavor", "Nominal", "Policy", "Gates", "MayPreempt", "MinCount", "Capacity", "Borrowing"),
	texts[safe.Doubt](none, "Guards", "Rules", "Limits", "FairSharing", "BestSearch", "SeveralResources", "Decisions", "Filters", "Budgets", "Rooms"),
	texts[safe.Outcome](none, "Never", "Later", "Now", "Unknown", "Leaving"),
	texts[preemption.Outcome](none, "Fits", "Preempt", "Gated", "Wait", "Impossible"),
	texts[preemption.SkipReason](none, "NoQuota", "ExceedsMaxQuota", "NotReclaimable", "NeverPreempts", "NoCandidates", "WouldPreempt", "WouldBorrow", "NotEligible"),
	texts[preemption.TopologyMismatch](none, "NoTopology", "NoTopologyLevel", "OnlyTopology"),
	texts[preemption.Possibility](none, "NoCandidates", "Preempt", "Reclaim"),
	texts[preemption.VictimReason](none, "InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing", "InClusterQueueTimeBased", "InCohortFairSharing", "ConfigurablePreemption"),
	texts[preemption.Rule](none, "WithinClusterQueue", "ReclaimWithinCohort", "WithinNominal", "BorrowWithinCohort", "GuaranteedRuntime", "Guarded", "FairShare", "NeverYields", "QueueInactive", "PreemptionLimitExceeded"),
	texts[preemption.Search]("Greedy", "Best"),
	texts[preemption.Sharing]("Classical", "Fair", "Reevaluated", "Stable", "KAI"),
	texts[audit.Verdict](none, "Right", "Fitted", "TooMany", "NotPermitted", "NotEnough"),
	texts[cycle.Borrowing]("AsBuilt", "KEP83", "KEP83Lasting"),
	texts[moves.Cause](none, "Protected", "NoPlace", "Budget", "Promised"),
	texts[moves.Start]("AfterStop", "BeforeStop"),
	texts[cycle.HeadOutcome](none, "Admit", "Preempt", "Gated", "Wait", "Inadmissible"),
	texts[placement.BudgetMode]("Soft", "Hard"),
	texts[placement.Charge]("ByMode", "ToAll", "ToFirstViolated"),
	texts[workload.DisruptionMode]("Pod", "PodGroup"),
	texts[placement.Mode]("Design", "InPlace"),
	texts[placement.Order]("FirstFit", "BestFit", "RoundRobin"),
	texts[placement.PreemptionPolicy]("PreemptLowerPriority", "Never"),
	texts[placement.Reach]("SameNode", "Cluster"),
	texts[placement.Rule](none, "Priority", "GuaranteedRuntime", "Guarded", "Terminating", "Budget"),
	texts[placement.Reason](none, "PolicyNever", "NoVictims", "NoRoom", "Budgets"),
}

type constant interface {
	~uint8
	String() string
	encoding.TextMarshaler
}

func texts[E constant](list ...string) enum { return enumOf[E](list, false) }

// textsOrEmpty: the empty text is read too, as the zero value.
func textsOrEmpty[E constant](list ...string) enum { return enumOf[E](list, true) }

func enumOf[E constant](list []string, orEmpty bool) enum {
	of := reflect.TypeFor[E]()
	unmarshal := func(text string, into *E) error {
		return any(into).(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	}
	return enum{of.PkgPath() + "." + of.Name(), func(t *testing.T) {
		const untouched = 99
		for i, text := range append(list, none) {
			v, read := E(i), E(untouched)
			got, err := v.MarshalText()
			if text == none { // before the constants, and after them
				number, word := fmt.Sprintf("%s(%d)", of.Name(), i), fmt.Sprintf("%s(%d)", of.Name(), i)
				if i == 0 { // a person reads a word
					word = "none"
				}
				if v.String() != word || err == nil || !strings.Contains(err.Error(), number) {
					t.Errorf("%d is %q, written as %q, %v; want %q and an error with %q", i, v, got, err, word, number)
				}
				continue
			}
			if v.String() != text || string(got) != text || err != nil {
				t.Errorf("%d is %q, written as %q, %v; want %q", i, v, got, err, text)
			}
			if err := unmarshal(text, &read); err != nil || read != v {
				t.Errorf("%q is read as %d, %v; want %d", text, read, err, v)
			}
			data, err := json.Marshal(map[E]E{v: v})
			if want := fmt.Sprintf("{%q:%q}", text, text); err != nil || string(data) != want {
				t.Errorf("JSON of %d: %s, %v; want %s", i, data, err, want)
			}
		}
		for _, text := range []string{"", none, "0", "1", strings.ToUpper(list[1]) + " ", strings.ToLower(list[1]) + "x"} {
			if slices.Contains(list, text) && text != none {
				continue
			}
			read := E(untouched)
			switch err := unmarshal(text, &read); {
			case text == "" && orEmpty:
				if err != nil || read != 0 {
					t.Errorf("an empty text is read as %d, %v; want zero", read, err)
				}
			case err == nil || read != untouched || !strings.Contains(err.Error(), strconv.Quote(text)):
				t.Errorf("%q is read as %d, %v; want an error that quotes it", text, read, err)
			}
		}
	}}
}

// TestTextsOfConstants: each constant has a text, and its text is read as the constant. No
// other value is written, no other text read.
func TestTextsOfConstants(t *testing.T) {
	for _, e := range enums {
		t.Run(strings.TrimPrefix(e.name, module+"/"), e.check)
	}
}

// TestEveryTypeOfConstantsIsListed: a new type of constants is found here, and then above.
func TestEveryTypeOfConstantsIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, e := range enums {
		listed[e.name] = true
	}
	integers := []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "byte", "rune"}
	declared, found := map[string]bool{}, map[string]bool{}
	each := func(visit func(dir string, spec ast.Spec)) {
		for _, s := range sources(t) {
			if s.test || strings.HasPrefix(s.dir, "internal/") {
				continue
			}
			for _, d := range s.file.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					for _, spec := range g.Specs {
						visit(module+"/"+s.dir, spec)
					}
				}
			}
		}
	}
	each(func(dir string, spec ast.Spec) {
		if ty, ok := spec.(*ast.TypeSpec); ok && ty.Name.IsExported() {
			if of, ok := ty.Type.(*ast.Ident); ok && slices.Contains(integers, of.Name) {
				declared[dir+"."+ty.Name.Name] = true
			}
		}
	})
	each(func(dir string, spec ast.Spec) {
		if v, ok := spec.(*ast.ValueSpec); ok {
			if of, ok := v.Type.(*ast.Ident); ok && declared[dir+"."+of.Name] {
				found[dir+"."+of.Name] = true
			}
		}
	})
	for name := range found {
		if !listed[name] {
			t.Errorf("%s has constants and no row in the table", name)
		}
	}
	if len(found) != len(enums) || len(found) < 25 {
		t.Errorf("%d types of constants found, %d listed", len(found), len(enums))
	}
}
