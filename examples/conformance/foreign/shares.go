package foreign

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/preemption/recorded"
	"github.com/cedesched/cede/quota"
	"github.com/cedesched/cede/quota/fairshare"
)

// sharesKinds are the kinds of trees of which KAI's fair shares were recorded.
var sharesKinds = []string{"flat", "two", "three", "many", "priority", "usage", "ties", "small"}

// sharesCase is a record of the fair shares that KAI computes.
type sharesCase struct {
	Input          sharesInput  `json:"input"`
	Want           sharesWant   `json:"want"`
	Answers        []sharesWant `json:"answers"` // if there are several
	FloatSensitive bool         `json:"float_sensitive"`
}

type sharesInput struct {
	Total  map[string]float64 `json:"total"`
	KValue float64            `json:"kValue"`
	Queues []sharesQueue      `json:"queues"`
}

type sharesQueue struct {
	Name     string       `json:"name"`
	Parent   string       `json:"parent"`
	Priority int64        `json:"priority"`
	Created  int64        `json:"created"`
	CPU      *sharesClaim `json:"cpu"`
	Memory   *sharesClaim `json:"memory"`
	GPU      *sharesClaim `json:"gpu"`
}

// sharesClaim has amounts as KAI has them. -1 is unlimited.
type sharesClaim struct {
	Deserved float64 `json:"deserved"`
	Limit    float64 `json:"limit"`
	Weight   float64 `json:"overQuotaWeight"`
	Request  float64 `json:"request"`
	Usage    float64 `json:"usage"`
}

type sharesWant struct {
	FairShare map[string]map[string]float64 `json:"fairShare"`
}

// sharesUnits are the resources, with the number of our amounts in one of KAI's: milli-CPU, bytes and thousandths of a GPU.
var sharesUnits = map[string]int64{"cpu": 1, "memory": 1, kai.GPU: 1000}

// sharesResource is the name of a resource in the state.
func sharesResource(name string) string {
	if name == "gpu" {
		return kai.GPU
	}
	return name
}

// sharesAmount returns our amount of one of KAI's.
func sharesAmount(err *error, resource string, x float64) int64 {
	unit := float64(sharesUnits[resource])
	n := math.Round(x * unit)
	if unit == 0 || math.Abs(x*unit-n) > 1e-6 || math.Abs(n) > 1<<53 {
		*err = fmt.Errorf("%v is no amount of %s", x, resource)
	}
	return int64(n)
}

func (s *sharesInput) tree() (tree fairshare.Tree, err error) {
	tree.KValue = quota.Some(s.KValue)
	for _, name := range slices.Sorted(maps.Keys(s.Total)) {
		resource := sharesResource(name)
		total := sharesAmount(&err, resource, s.Total[name])
		tree.Resources = append(tree.Resources, fairshare.Resource{Name: resource, Total: total, Unit: sharesUnits[resource]})
	}
	for _, from := range s.Queues {
		to := fairshare.Queue{Name: from.Name, Parent: from.Parent, Priority: from.Priority, CreatedAt: time.Unix(from.Created, 0).UTC()}
		for _, of := range []struct {
			resource string
			claim    *sharesClaim
		}{{"cpu", from.CPU}, {"memory", from.Memory}, {kai.GPU, from.GPU}} {
			if of.claim == nil {
				continue
			}
			claim := fairshare.Claim{Resource: of.resource, Quota: quota.Unlimited, OverQuotaWeight: of.claim.Weight, PastUsage: of.claim.Usage}
			claim.Request = sharesAmount(&err, of.resource, of.claim.Request)
			if of.claim.Deserved != -1 {
				claim.Quota = sharesAmount(&err, of.resource, of.claim.Deserved)
			}
			if of.claim.Limit != -1 {
				claim.Limit = quota.AtMost(sharesAmount(&err, of.resource, of.claim.Limit))
			}
			to.Claims = append(to.Claims, claim)
		}
		tree.Queues = append(tree.Queues, to)
	}
	return tree, err
}

func (w *sharesWant) list() (list []recorded.FairShare, err error) {
	for _, queue := range slices.Sorted(maps.Keys(w.FairShare)) {
		for _, name := range slices.Sorted(maps.Keys(w.FairShare[queue])) {
			resource := sharesResource(name)
			share := sharesAmount(&err, resource, w.FairShare[queue][name])
			list = append(list, recorded.FairShare{Queue: queue, Resource: resource, FairShare: share})
		}
	}
	return list, err
}

func (s *sharesCase) convert(c *recorded.Case) error {
	c.Source = "KAI-Scheduler d5bc503a, its proportion plugin"
	tree, err := s.Input.tree()
	if err != nil {
		return err
	}
	if len(s.Answers) == 0 {
		s.Answers = []sharesWant{s.Want}
	}
	q := recorded.FairShares{Tree: tree, FloatSensitive: s.FloatSensitive}
	for i := range s.Answers {
		answer, err := s.Answers[i].list()
		if err != nil {
			return err
		}
		q.Answers = append(q.Answers, answer)
	}
	c.FairShares = []recorded.FairShares{q}
	return nil
}
