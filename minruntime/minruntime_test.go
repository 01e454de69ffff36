package minruntime_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/cedesched/cede/minruntime"
	"github.com/cedesched/cede/quota"
)

// Zero is a value; unset is left out.
func TestJSON(t *testing.T) {
	s := minruntime.Settings{Preempt: quota.Some(time.Duration(0)), Reclaim: quota.Some(90 * time.Second)}
	data, err := json.Marshal(s)
	var again minruntime.Settings
	if err != nil || string(data) != `{"preempt":"0s","reclaim":"1m30s"}` || json.Unmarshal(data, &again) != nil || again != s {
		t.Errorf("%s, %v, %v", data, again, err)
	}
	for _, text := range []string{"5", `"soon"`} {
		if err := json.Unmarshal([]byte(`{"preempt":`+text+`}`), &again); err == nil {
			t.Errorf("%s is a duration", text)
		}
	}
	var m minruntime.Method
	if m.UnmarshalText([]byte("queue")) != nil || m != minruntime.Queue || m.UnmarshalText([]byte("LCA")) == nil {
		t.Error(m)
	}
}
