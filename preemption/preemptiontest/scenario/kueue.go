package scenario

import (
	"crypto/sha256"
	_ "embed" // the answers
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// kueueRecord is what Kueue was asked on a world, and answered; see testdata/PROVENANCE.md.
type kueueRecord struct {
	ID          string
	StateSha256 string
	Scenarios   []struct {
		Name, Queue string
		Priority    int64
		Request     Size
	}
	Answers    []Answer
	SnapshotNs float64
}

// Answer is Kueue's to one request.
type Answer struct {
	Scenario string
	Mode     Mode
	Victims  int
	// Sha256 is the hash of the names, sorted, a line each; AlsoSha256 are hashes of other answers to the same
	// request.
	Sha256     string
	AlsoSha256 []string
	Names      []string // if there are at most 128
	Reasons    map[string]int
	// TargetsNs is the time of the search, NominateNs the time of all that Kueue's scheduler does for one head.
	// Zero: not timed.
	TargetsNs, NominateNs float64
}

//go:embed testdata/kueue.json
var answers []byte

// records is Kueue's answers, by the ID of the world.
var records = sync.OnceValues(func() (map[string]*kueueRecord, error) {
	var file struct{ Worlds []*kueueRecord }
	if err := json.Unmarshal(answers, &file); err != nil {
		return nil, err
	}
	byID := map[string]*kueueRecord{}
	for _, r := range file.Worlds {
		byID[r.ID] = r
	}
	return byID, nil
})

// kueue is what Kueue answered to a scenario of the world. In flat cohorts the answer does not depend on the number of
// cohorts: a world with the first cohort of a smaller world has the answers of that world, but not its times.
func (w World) kueue(name string) map[Mode]*Answer {
	all, _ := records() // a test reads them all
	known, same := all[w.ID], true
	for _, other := range Worlds {
		scaled := w
		scaled.ID, scaled.Queues = other.ID, other.Queues
		if known == nil && w.Leaves == 0 && scaled == other {
			known, same = all[other.ID], false
		}
	}
	byMode := map[Mode]*Answer{}
	if known == nil {
		return byMode
	}
	for _, a := range known.Answers {
		if a.Scenario != name {
			continue
		}
		if !same {
			a.TargetsNs, a.NominateNs = 0, 0
		}
		byMode[a.Mode] = &a
	}
	return byMode
}

// is reports whether victims of these IDs, sorted, are Kueue's answer.
func (a *Answer) is(ids []string) bool {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = strings.TrimPrefix(id, "bench/")
	}
	sum := hash(strings.Join(names, "\n"))
	return len(ids) == a.Victims && (sum == a.Sha256 || slices.Contains(a.AlsoSha256, sum))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
