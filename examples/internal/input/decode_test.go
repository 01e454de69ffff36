package input

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/bridge"
)

// An error says which value is wrong, and what it should be.
func TestDecode(t *testing.T) {
	type all struct {
		Metadata bridge.Metadata            `json:"metadata"`
		Pod      bridge.PodSpec             `json:"pod"`
		Amounts  map[string]bridge.Quantity `json:"amounts"`
	}
	for text, want := range map[string]string{
		`{"metadata":{"name":"a","labels":null},"other":[1]}`:                   "",
		`{"metadata":{"name":5,"namespace":"b"}}`:                               "in.metadata.name: want a string, found a number",
		`{"metadata":{"creationTimestamp":"2026-11-20"}}`:                       `in.metadata.creationTimestamp: "2026-11-20" is not a time`,
		`{"metadata":{"creationTimestamp":5}}`:                                  "in.metadata.creationTimestamp: want a time, as text, found a number",
		`{"metadata":{"labels":["x"]}}`:                                         "in.metadata.labels: want an object, found a list",
		`{"pod":{"priority":2147483648}}`:                                       "in.pod.priority: want an integer of 32 bits, found number 2147483648",
		`{"pod":{"priority":1.5}}`:                                              "in.pod.priority: want an integer of 32 bits, found number 1.5",
		`{"pod":{"containers":[{},{"resources":{"requests":{"cpu":"many"}}}]}}`: `in.pod.containers[1].resources.requests.cpu: "many" is not a quantity (as in 500m, 8, 64Gi)`,
		`{"pod":{"containers":[{},null]}}`:                                      "in.pod.containers[1]: null is no item of a list",
		`{"amounts":{"a":null}}`:                                                "in.amounts.a: null is no quantity",
	} {
		err := Decode("in", json.RawMessage(text), new(all))
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// The cut of a list by a mark of YAML is no end of it.
func TestMarkInList(t *testing.T) {
	_, _, err := read(`{"kind":"List","items":[` + a + "\n---\n" + bYAML)
	if err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Error(err)
	}
}
