package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// With this variable the test binary is a program that is asked; its value says how it behaves.
const behaviour = "CEDE_SUITE_PROGRAM"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		behave(how)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// behave answers as cede does, but for what its name says.
func behave(how string) {
	in := bufio.NewReader(os.Stdin)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q Asked
		must(json.Unmarshal(line, &q))
		a := Answered{ID: q.ID}
		a.Answer, err = Answer(q.Form, q.Question)
		must(err)
		second := number == 2
		switch {
		case how == "dies" && second:
			os.Exit(3)
		case how == "dies at once":
			os.Exit(3)
		case how == "hangs" && second:
			time.Sleep(time.Hour)
		case how == "is deaf":
			time.Sleep(time.Hour)
		case how == "malformed" && second:
			fmt.Println("{oops")
			continue
		case how == "null" && second:
			a.Answer = json.RawMessage("null")
		case how == "says nothing" && second:
			a.Answer = nil
		case how == "a number" && second:
			a.Answer = json.RawMessage("7")
		case how == "refuses" && second:
			a = Answered{ID: q.ID, Error: "too hard"}
		case how == "another" && second:
			a.ID = "other"
		case how == "wrong" && second:
			a.Answer = bytes.Replace(a.Answer, []byte(`"outcome":"`), []byte(`"outcome":"Im`), 1)
		case how == "long" && second:
			fmt.Println(strings.Repeat("x", maxAnswer+1))
			continue
		}
		must(json.NewEncoder(os.Stdout).Encode(a))
	}
}

// few are some cases of a form.
func few(t *testing.T, form string, n int) (list []Case) {
	t.Helper()
	for _, c := range cases(t) {
		if c.Form == form && len(list) < n {
			list = append(list, c)
		}
	}
	return list
}

func runAs(t *testing.T, how string, list []Case, claims Claims, o Options) *Report {
	t.Helper()
	t.Setenv(behaviour, how)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o.Stderr = io.Discard
	r, err := Run([]string{program}, list, claims, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A program that misbehaves is told and counted, is asked on, and never holds up the run.
func TestProgramsThatMisbehave(t *testing.T) {
	list := few(t, Decide, 4)
	for how, want := range map[string]struct {
		failed, died, malformed, refused int
		says                             string
		late                             bool
	}{
		"right":        {},
		"dies":         {failed: 2, died: 2, says: "ended"}, // the second and, started anew, the fourth
		"dies at once": {failed: 4, died: 3, says: "was lost 3 times"},
		"hangs":        {failed: 2, died: 2, says: "no answer within", late: true},
		"is deaf":      {failed: 4, died: 3, says: "was lost 3 times", late: true},
		"malformed":    {failed: 1, malformed: 1, says: "no answer: invalid"},
		"null":         {failed: 1, malformed: 0, says: ""},
		"says nothing": {failed: 1, malformed: 1, says: "neither an answer nor an error"},
		"a number":     {failed: 1, says: ""},
		"refuses":      {failed: 1, refused: 1, says: "too hard"},
		"another":      {failed: 2, died: 2, says: `it answers "other"`},
		"wrong":        {failed: 1},
		"long":         {failed: 2, died: 2, says: "too long"},
	} {
		t.Run(how, func(t *testing.T) {
			if want.late {
				r := runAs(t, how, list, Claims{}, Options{Each: 250 * time.Millisecond, Starts: 2})
				// On a slow machine more may be late.
				if r.Passed+r.Failed != len(list) || r.Failed < want.failed || r.Died < want.died || !strings.Contains(fmt.Sprint(r.Failures), want.says) {
					t.Errorf("%+v, want %+v", *r, want)
				}
				return
			}
			r := runAs(t, how, list, Claims{}, Options{Each: time.Minute, Starts: 2})
			if r.Failed != want.failed || r.Passed != len(list)-want.failed || r.Died != want.died || r.Malformed != want.malformed || r.Refused != want.refused {
				t.Errorf("%+v, want %+v", *r, want)
			}
			if len(r.Failures) != want.failed {
				t.Fatalf("%d failures", len(r.Failures))
			}
			if want.failed > 0 && !strings.Contains(r.Failures[want.failed-1].Error, want.says) {
				t.Errorf("%+v, want %q", r.Failures, want.says)
			}
		})
	}
}

// All takes no more than the time for all; what was not asked then has failed.
func TestTotalTime(t *testing.T) {
	r := runAs(t, "right", few(t, Decide, 3), Claims{}, Options{Total: 1})
	if r.Failed != 3 || !strings.Contains(r.Failures[0].Error, "all took more than 1ns") {
		t.Errorf("%+v", r)
	}
}

// A program that cannot be started is an error.
func TestNoProgram(t *testing.T) {
	if _, err := Run([]string{"/nonexistent/program"}, few(t, Decide, 1), Claims{}, Options{}); err == nil {
		t.Error("no error")
	}
}

// What is not claimed is not asked, and of an answer only the claimed parts count.
func TestClaimsAreKept(t *testing.T) {
	list := append(few(t, Decide, 40), few(t, Place, 3)...)
	claims := Claims{Forms: []string{Decide}, Features: []string{"cohorts", "trees", "cohortQuotas", "borrowingLimits", "lendingLimits", "within", "equals", "reclaim"}}
	r := runAs(t, "right", list, claims, Options{})
	if r.Failed > 0 || r.Passed == 0 || r.Passed > 40 || r.Passed+r.NotAsked != len(list) || r.Forms[Place].NotAsked != 3 || r.Features["fair"].Passed > 0 {
		t.Errorf("%+v", r)
	}
	r = runAs(t, "wrong", few(t, Decide, 2), Claims{Parts: []string{"victims"}}, Options{})
	if r.Failed > 0 || r.Parts["outcome"] != nil {
		t.Errorf("a wrong outcome counts, though it is not claimed: %+v", r)
	}
}

// Claims name forms, features and parts that there are.
func TestParseClaims(t *testing.T) {
	for text, want := range map[string]string{
		`{"forms":["decide"],"features":["core","fair"],"parts":["victims"]}`: "",
		`{"forms":["decides"],"parts":["victim"]}`:                            `forms[0]: "decides" is unknown`,
		`{"parts":["victim"]}`:                                                `parts[0]: "victim" is unknown`,
		`{"form":[]}`:                                                         "unknown field",
		`{} {}`:                                                               "something follows",
	} {
		if _, err := ParseClaims([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// An absent field is zero; a number is a number however it is written; the order of a list counts.
func TestDiffer(t *testing.T) {
	for _, c := range []struct{ want, got, differ string }{
		{`{"outcome":"Fits","borrowHeight":0}`, `{"outcome":"Fits"}`, "[]"},
		{`{"outcome":"Fits","borrowHeight":2}`, `{"outcome":"Fits","borrowHeight":2.0,"victims":[],"retryAt":"0001-01-01T00:00:00Z"}`, "[]"},
		{`{"outcome":"Fits"}`, `{"outcome":"Preempt","victims":[{"workload":"a","reason":"InClusterQueue"}]}`, "[outcome reasons victims]"},
		{`{"outcome":"Preempt","victims":[{"workload":"a"},{"workload":"b"}]}`, `{"outcome":"Preempt","victims":[{"workload":"b"},{"workload":"a"}]}`, "[victims]"},
		{`{"outcome":"Impossible","shortage":[{"missing":9007199254740993}]}`, `{"outcome":"Impossible","shortage":[{"missing":9007199254740992}]}`, "[shortage]"},
		{`{"outcome":"Fits","proof":{"nodes":5}}`, `{"outcome":"Fits","proof":{"nodes":6}}`, "[]"},
		{`{"outcome":"Fits"}`, `"Fits"`, "[not an object outcome]"},
	} {
		if differ, _, err := Differ(Decide, []byte(c.want), []byte(c.got), all); err != nil || fmt.Sprint(differ) != c.differ {
			t.Errorf("%s and %s: %v %v, want %s", c.want, c.got, differ, err, c.differ)
		}
	}
}

// A question that is none is an error.
func TestAnswerRefuses(t *testing.T) {
	for text, form := range map[string]string{`{}`: "other", `{"state":5}`: Decide, `{"states":{}}`: Place, `{"state":{},"request":{}}`: Cycles} {
		if _, err := Answer(form, []byte(text)); err == nil {
			t.Errorf("%s %s: no error", form, text)
		}
	}
}
