package state

import (
	"fmt"
	"slices"

	"github.com/cedesched/cede/internal/base/fault"
	"github.com/cedesched/cede/workload"
)

// Claim is devices that pods hold together. It is immutable. What is free on a node is counted without claims everywhere but
// in a search (package room): how much of a claim is free depends on who is gone.
type Claim struct {
	Facts   workload.Claim
	Takes   []Amount
	holders []string // IDs of running and nominated pods, sorted
}

func (c *Claim) id() string { return c.Facts.ID }

// newClaim makes a claim. It keeps facts, which must be a copy.
func (c *Columns) newClaim(facts workload.Claim) *Claim {
	all := c.takes(nil, facts.Requests)
	return &Claim{Facts: facts, Takes: slices.DeleteFunc(all, func(a Amount) bool { return a.Column == PodsColumn })}
}

// Claim returns a claim; nil: there is none.
func (c *Cluster) Claim(id string) *Claim {
	k, _ := c.claims.Get(id)
	return k
}

// HasClaims reports whether there are claims.
func (c *Cluster) HasClaims() bool { return c.claims.Len() > 0 }

// Holders visits the running and nominated pods that hold a claim.
func (c *Cluster) Holders(id string, visit func(*Pod)) {
	k := c.Claim(id)
	if k == nil {
		return
	}
	for _, id := range k.holders {
		p := c.Pod(id)
		if p == nil {
			p = c.PromisedPod(id)
		}
		visit(p)
	}
}

// hold adds a pod to the holders of its claims, or removes it.
func (c *Cluster) hold(p *workload.Pod, is bool) {
	for _, id := range p.Claims {
		k, _ := c.claims.Get(id)
		at, found := slices.BinarySearch(k.holders, p.ID)
		if found == is {
			continue
		}
		next := *k
		if next.holders = slices.Clone(k.holders); is {
			next.holders = slices.Insert(next.holders, at, p.ID)
		} else {
			next.holders = slices.Delete(next.holders, at, at+1)
		}
		c.claims = c.claims.Set(&next)
	}
}

// SetClaim adds a claim or replaces the one with that ID.
func (e *Edit) SetClaim(k workload.Claim) fault.List {
	if e.All(k.Validate(e.path)); e.List != nil {
		return e.List
	}
	e.addColumns(k.Requests)
	next := e.c.Columns.newClaim(k)
	if old := e.c.Claim(k.ID); old != nil {
		next.holders = old.holders
	}
	e.c.claims = e.c.claims.Set(next)
	return e.List
}

// RemoveClaim removes a claim that no pod holds.
func (e *Edit) RemoveClaim(id string) fault.List {
	switch k := e.c.Claim(id); {
	case k == nil:
		e.Add(e.path, "no claim %q", id)
	case len(k.holders) > 0:
		e.Add(e.path, "%d pods hold claim %q", len(k.holders), id)
	default:
		e.c.claims, _ = e.c.claims.Delete(id)
	}
	return e.List
}

// KnownClaims checks that the claims of a pod are known.
func (f *Check) KnownClaims(path string, p *workload.Pod, known func(id string) bool) {
	for i, id := range p.Claims {
		if id != "" && !known(id) {
			f.Add(fmt.Sprintf("%s.claims[%d]", path, i), "unknown claim %q", id)
		}
	}
}

func (e *Edit) hasClaim(id string) bool { return e.c.Claim(id) != nil }
