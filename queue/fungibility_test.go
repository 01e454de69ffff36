package queue_test

import (
	"encoding/json"
	"testing"

	"github.com/cedesched/cede/queue"
)

func TestFlavorFungibilityJSON(t *testing.T) {
	for text, want := range map[string]queue.FlavorFungibility{
		`{}`:                                {},
		`{"whenCanBorrow":"TryNextFlavor"}`: {WhenCanBorrow: queue.TryNextFlavor},
		`{"whenCanBorrow":"MayStopSearch","whenCanPreempt":"MayStopSearch"}`: {WhenCanBorrow: queue.MayStopSearch, WhenCanPreempt: queue.MayStopSearch},
		`{"whenCanBorrow":"TryNextFlavor","whenCanPreempt":"TryNextFlavor","preference":"PreemptionOverBorrowing"}`: {
			queue.TryNextFlavor, queue.TryNextFlavor, queue.PreemptionOverBorrowing},
	} {
		var got queue.FlavorFungibility
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
		if data, err := json.Marshal(want); err != nil || string(data) != text {
			t.Errorf("%+v is %s, %v", want, data, err)
		}
	}
	for _, text := range []string{`{"whenCanBorrow":"Borrow"}`, `{"whenCanPreempt":"never"}`, `{"preference":"None"}`, `{"preference":1}`} {
		var got queue.FlavorFungibility
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is %+v, want an error", text, got)
		}
	}
	for _, bad := range []any{queue.FungibilityPolicy(3), queue.FlavorPreference(2)} {
		if data, err := json.Marshal(bad); err == nil {
			t.Errorf("%v is written as %s", bad, data)
		}
	}
}

// The zero value is Kueue's defaults: whenCanBorrow MayStopSearch, whenCanPreempt
// TryNextFlavor, preference BorrowingOverPreemption.
func TestFlavorFungibilityDefaults(t *testing.T) {
	for _, c := range []struct {
		f                     queue.FlavorFungibility
		borrowing, preempting bool
	}{
		{queue.FlavorFungibility{}, true, false},
		{queue.FlavorFungibility{WhenCanBorrow: queue.MayStopSearch, WhenCanPreempt: queue.TryNextFlavor}, true, false},
		{queue.FlavorFungibility{WhenCanBorrow: queue.TryNextFlavor, WhenCanPreempt: queue.MayStopSearch}, false, true},
	} {
		if c.f.MayStopBorrowing() != c.borrowing || c.f.MayStopPreempting() != c.preempting || c.f.Preference != queue.BorrowingOverPreemption {
			t.Errorf("%+v", c.f)
		}
	}
}
