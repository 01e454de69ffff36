package main

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cedesched/cede/examples/internal/history/historytest"
)

var (
	timeOfCondition = regexp.MustCompile(`"lastTransitionTime":"([^"]+)"`)
	uidOfVersion    = regexp.MustCompile(`"uid":"(uid-[0-9]+)"`)
	evictionText    = regexp.MustCompile(`"type":"Evicted".*?"message":"([^"]+)","lastTransitionTime":"([^"]+)"`)
)

// shift moves a time of an object.
func shift(text string, by int) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at.Add(time.Duration(by) * time.Second).Format(time.RFC3339)
}

// skewed gives each workload one of the clocks of several machines, which differ by up to a minute, and tells of each
// eviction once more by an Event with a clock of its own.
func skewed(l *lived, r *rand.Rand) []string {
	clocks, events := map[string]int{}, r.IntN(61)-30
	var list []string
	for _, v := range l.versions {
		uid := uidOfVersion.FindStringSubmatch(v)
		if uid == nil {
			list = append(list, v)
			continue
		}
		if _, is := clocks[uid[1]]; !is {
			clocks[uid[1]] = []int{-30, 0, 30, r.IntN(61) - 30}[r.IntN(4)]
		}
		if told := evictionText.FindStringSubmatch(v); told != nil {
			list = append(list, fmt.Sprintf(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"kind":"Workload","uid":%q},"reason":"Preempted","message":%q,"lastTimestamp":%q}`,
				uid[1], told[1], shift(told[2], events)))
		}
		list = append(list, timeOfCondition.ReplaceAllStringFunc(v, func(c string) string {
			return fmt.Sprintf(`"lastTransitionTime":%q`, shift(timeOfCondition.FindStringSubmatch(c)[1], clocks[uid[1]]))
		}))
	}
	return list
}

// compareNear counts what is said of a lived cluster whose clocks differ by up to a minute.
func (c *count) compareNear(t *testing.T, seed uint64, spoilt iter.Seq[string], a audited) {
	near := func(of string, at time.Time, preemptor string) bool {
		when, who, _ := strings.Cut(of, " ")
		told, err := time.Parse(time.RFC3339, when)
		return err == nil && who == preemptor && told.Sub(at).Abs() <= 2*time.Minute
	}
	for _, p := range a.Preemptions {
		wrong, isSpoilt := p.Verdict != "Right" && p.Verdict != "Unknown", false
		for key := range spoilt {
			isSpoilt = isSpoilt || near(key, p.At, p.Preemptor)
		}
		switch {
		case isSpoilt && wrong:
			c.spoilt, c.found = c.spoilt+1, c.found+1
		case isSpoilt:
			c.spoilt++
		case wrong:
			c.right, c.accused = c.right+1, c.accused+1
			t.Logf("seed %d: %s %s is right, judged %s", seed, p.At.Format(time.RFC3339), p.Preemptor, p.Verdict)
		default:
			c.right++
		}
		if p.Verdict == "Unknown" {
			c.unknown++
		}
	}
}

// Where clocks differ by up to a minute, nobody is accused of what is right, and faults that do not depend on order are found:
// of whole histories, and of those that were cut off.
func TestAuditOfSkewedClocks(t *testing.T) {
	var whole, cut count
	for seed := range uint64(8) {
		l := newLived(seed, true)
		l.live(120)
		r := rand.New(rand.NewPCG(seed, 60))
		list := skewed(l, r)
		text := strings.Join(list, "\n")
		a, _ := auditOf(t, text[:len(text)*2/3], "-skew", "1m")
		cut.compareNear(t, seed, maps.Keys(l.spoilt), a)
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		a, _ = auditOf(t, strings.Join(list, "\n"), "-skew", "1m")
		whole.compareNear(t, seed, maps.Keys(l.spoilt), a)
	}
	if whole.accused > 0 || whole.right < 500 || whole.found < 25 || cut.accused > 0 || cut.right < 300 || cut.found < 15 {
		t.Errorf("whole %+v, cut off %+v", whole, cut)
	}
}

var podOfLine = regexp.MustCompile(`"uid":"(0{8}-[^"]+)"`)

// timeOfPod is a time that a controller or a kubelet writes.
var timeOfPod = regexp.MustCompile(`"(lastTransitionTime|startTime|finishedAt|lastTimestamp|eventTime)":"([^"]+)"`)

// The same of pods: each has a clock, and so have the Events of each.
func TestAuditOfSkewedPods(t *testing.T) {
	var n count
	for seed := range uint64(podLives) {
		r, clocks := rand.New(rand.NewPCG(seed, 61)), map[string]int{}
		l, file := livePods(t, seed, 40, func(l *historytest.Life) (list []string) {
			for _, v := range l.Lines {
				of := fmt.Sprint(podOfLine.FindStringSubmatch(v), strings.Contains(v, `"kind":"Event"`))
				if _, is := clocks[of]; !is {
					clocks[of] = []int{-30, 0, 30, r.IntN(61) - 30}[r.IntN(4)]
				}
				list = append(list, timeOfPod.ReplaceAllStringFunc(v, func(c string) string {
					m := timeOfPod.FindStringSubmatch(c)
					return fmt.Sprintf("%q:%q", m[1], shift(m[2], clocks[of]))
				}))
			}
			return list
		})
		a, _ := auditOf(t, string(must(os.ReadFile(file))(t)), "-skew", "1m")
		n.compareNear(t, seed, maps.Keys(l.Spoilt), a)
	}
	if decided := n.right + n.spoilt - n.unknown; n.accused > 0 || n.found < podLives || decided < 2*podLives {
		t.Errorf("%+v", n)
	}
}
