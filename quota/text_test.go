package quota

import (
	"encoding/json"
	"strings"
	"testing"
)

// "It fails on unknown fields and on an entry without nominal: limits alone say nothing."
func TestQuotaJSON(t *testing.T) {
	full := Quota{Flavor: "spot", Resource: "gpu", Nominal: 8, BorrowingLimit: AtMost(0), LendingLimit: AtMost(2)}
	for text, want := range map[string]Quota{
		`{"flavor":"spot","resource":"gpu","nominal":8,"borrowingLimit":0,"lendingLimit":2}`: full,
		`{"flavor":"spot","resource":"gpu","nominal":0}`:                                     {Flavor: "spot", Resource: "gpu"},
	} {
		var q Quota
		if err := json.Unmarshal([]byte(text), &q); err != nil || q != want {
			t.Errorf("%s is read as %v, %v", text, q, err)
		}
		if data, err := json.Marshal(want); err != nil || string(data) != text {
			t.Errorf("%v is written as %s, %v", want, data, err)
		}
	}
	for text, want := range map[string]string{
		`{"flavor":"spot","resource":"gpu","borrowingLimit":1}`: "quota of spot/gpu: no nominal",
		`{"flavor":"spot","resource":"gpu","nominal":null}`:     "no nominal",
		`{"nominal":1,"nominel":2}`:                             `unknown field "nominel"`,
		`{"nominal":1.5}`:                                       "1.5",
	} {
		var q Quota
		if err := json.Unmarshal([]byte(text), &q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A flavor-resource is ordered by flavor, then by resource, and written with a slash.
func TestFlavorResourceText(t *testing.T) {
	ordered := []FlavorResource{{"", ""}, {"", "b"}, {"a", "b"}, {"a", "c"}, {"b", "a"}}
	for i, x := range ordered {
		for j, y := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := x.Compare(y); got != want {
				t.Errorf("%v against %v is %d, want %d", x, y, got, want)
			}
		}
	}
	if got := (FlavorResource{"spot", "gpu"}).String(); got != "spot/gpu" {
		t.Error(got)
	}
}
