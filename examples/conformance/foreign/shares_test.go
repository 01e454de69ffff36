package foreign

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cedesched/cede/preemption/recorded"
)

// TestFairShares asks every tree of which KAI's fair shares were recorded.
func TestFairShares(t *testing.T) {
	asked, departed := 0, map[string]int{}
	err := recorded.Lines("shares", beside(t, "kai", "shares.jsonl.gz"), func(_ int, line []byte) error {
		c, _, err := Case(line)
		if err != nil {
			return err
		}
		asked++
		r, err := c.Check()
		for _, d := range r.Differences {
			t.Errorf("%s:\n%s", c.ID, cmp.Diff(d.Want, d.Got))
		}
		for _, name := range r.Departures {
			departed[name]++
		}
		return err
	})
	want := map[string]int{
		"the fractions of fair shares are exact":                                        2,
		"a queue of which weight and past usage cancel out gets nothing over its quota": 1,
	}
	if diff := cmp.Diff(want, departed); err != nil || diff != "" || asked != 2339 {
		t.Errorf("%d asked, %v; - departures, + got:\n%s", asked, err, diff)
	}
}

// sharesLine is a tree of one queue with 2.5 of 4 GPUs.
const sharesLine = `{"id":"s","kind":"small","input":{"kValue":1,"total":{"gpu":4},"queues":[{"name":"a",
"gpu":{"deserved":-1,"limit":2.5,"request":3}}]},"want":{"fairShare":{"a":{"gpu":2.5}}}}`

// A recorded share that is changed differs; so does one that is missing, or of which a resource or a queue is unknown. Any of several
// answers is right.
func TestFairSharesAreCompared(t *testing.T) {
	for to, passes := range map[string]bool{
		`"fairShare":{"a":{"gpu":2.5}}`: true, `"fairShare":{"a":{"gpu":2.501}}`: false, `"fairShare":{"a":{}}`: false, `"fairShare":{}`: false,
		`"fairShare":{"a":{"gpu":2.5,"cpu":0}}`: false, `"fairShare":{"a":{"gpu":2.5},"b":{"gpu":0}}`: false,
		`"fairShare":{"a":{"gpu":2}}},"answers":[{"fairShare":{"a":{"gpu":2}}},{"fairShare":{"a":{"gpu":2.5}}}],"x":{`: true,
		`"fairShare":{"a":{"gpu":2}}},"answers":[{"fairShare":{"a":{"gpu":2}}},{"fairShare":{"a":{"gpu":3}}}],"x":{`:   false,
	} {
		c, ok, err := Case([]byte(strings.Replace(sharesLine, `"fairShare":{"a":{"gpu":2.5}}`, to, 1)))
		if err != nil || !ok {
			t.Fatalf("%s: %v", to, err)
		}
		if r, err := c.Check(); err != nil || r.Passed() != passes || len(r.Departures) > 0 {
			t.Errorf("%s: %+v, %v", to, r, err)
		}
	}
}

// An amount that is none of thousandths of a GPU is refused, wherever it stands.
func TestFairSharesOfNoAmount(t *testing.T) {
	for from, to := range map[string]string{
		`"limit":2.5`: `"limit":2.5003`, `{"gpu":4}`: `{"gpu":1e30}`, `"request":3`: `"request":0.0001`, `{"gpu":2.5}`: `{"gpu":1.0001}`,
		`"total":{"gpu"`: `"total":{"tpu"`,
	} {
		if _, _, err := Case([]byte(strings.Replace(sharesLine, from, to, 1))); err == nil || !strings.Contains(err.Error(), "is no amount of ") {
			t.Errorf("%s: %v", to, err)
		}
	}
}
