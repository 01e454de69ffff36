package moves

import (
	"cmp"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// Config says when a victim moves, and what that costs. With the zero value the victims are those of a decision without moves,
// and each moves that has a place.
type Config struct {
	// Prefer takes, of units that are equally important but for their start, those that have a place elsewhere: see step 2 of the
	// package. A resize is an error beside it.
	Prefer bool
	// Start says whether a pod that moves stops or starts first.
	Start Start
	// Price returns what is lost if a unit yields, and if it moves; negative: it must not. So -1 for each that yields asks that every
	// victim moves. It must depend on the unit alone, and what
	// a unit loses by moving must not be more than by yielding, if both may be. Nil: each pod that yields costs 1, a move nothing.
	Price func(u placement.Unit) (yield, move int64)
	// Domains returns domains within one of which all pods of a unit must be, when it moves. Nil, or none: anywhere.
	Domains func(u placement.Unit) []placement.Domain
	// MaxTries limits how many domains are tried, and how many units Prefer asks about. Zero is 16; negative is an error.
	MaxTries int
}

// Start says in which order a pod that moves stops and starts. The zero value is AfterStop.
type Start uint8

const (
	// AfterStop: the pod stops, then it starts elsewhere.
	AfterStop Start = iota
	// BeforeStop: it starts elsewhere, then it stops, so it needs room beside itself. Victims that need each other's room do not
	// move.
	BeforeStop
)

// Cost is what an answer costs.
type Cost struct {
	// Lost is the sum of the prices.
	Lost int64 `json:"lost,omitzero"`
	// Pods is the number of pods that stop. It decides between answers that lose as much.
	Pods int64 `json:"pods,omitzero"`
}

// Compare returns a negative number if a is better than b.
func (a Cost) Compare(b Cost) int {
	return cmp.Or(cmp.Compare(a.Lost, b.Lost), cmp.Compare(a.Pods, b.Pods))
}

func (a Cost) plus(b Cost) Cost { return Cost{quota.Add(a.Lost, b.Lost), a.Pods + b.Pods} }

func (c *Config) maxTries() int { return cmp.Or(c.MaxTries, 16) }

func (c *Config) validate() (faults fault.List) {
	if !startNames.Valid(c.Start) {
		faults.Add("config.Start", "%v is unknown", c.Start)
	}
	if c.MaxTries < 0 {
		faults.Add("config.MaxTries", "%d is negative", c.MaxTries)
	}
	return faults
}

// request finds what the configuration does not know of a request.
func (c *Config) request(r *placement.Request) (faults fault.List) {
	if r.Resize && c.Prefer {
		faults.Add("request.resize", "is not known beside Prefer")
	}
	return faults
}

// price returns what a unit loses; negative: it must not.
func (c *Config) price(u *placement.Unit) (yield, move int64) {
	if c.Price != nil {
		yield, move = c.Price(*u)
	} else {
		yield = int64(len(u.Pods))
	}
	for i := range u.Pods {
		if len(u.Pods[i].Claims) > 0 {
			move = -1
		}
	}
	return yield, move
}
