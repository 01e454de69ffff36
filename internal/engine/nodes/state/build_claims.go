package state

import (
	"slices"

	"github.com/cedesched/cede/internal/persist/trie"
	"github.com/cedesched/cede/workload"
)

func claimID(k *workload.Claim) string { return k.ID }

// hasValidClaims reports whether the claims are valid, and each that a pod names is there.
func (b *builder) hasValidClaims() bool {
	known := map[string]bool{}
	for i := range b.st.Claims {
		k := &b.st.Claims[i]
		if known[k.ID] || k.Validate("") != nil {
			return false
		}
		known[k.ID] = true
	}
	for _, list := range [...][]workload.Pod{b.st.Pods, b.st.Nominated} {
		for i := range list {
			if slices.ContainsFunc(list[i].Claims, func(id string) bool { return !known[id] }) {
				return false
			}
		}
	}
	return true
}

// addClaims makes the claims.
func (b *builder) addClaims() {
	list, index := make([]*Claim, len(b.st.Claims)), map[string]*Claim{}
	for i := range b.st.Claims {
		list[i] = b.c.Columns.newClaim(b.st.Claims[i].Clone())
		index[list[i].Facts.ID] = list[i]
	}
	for _, pods := range [...][]workload.Pod{b.st.Pods, b.st.Nominated} {
		for i := range pods {
			for _, id := range pods[i].Claims {
				index[id].holders = append(index[id].holders, pods[i].ID)
			}
		}
	}
	for _, k := range list {
		slices.Sort(k.holders)
	}
	b.c.claims = trie.Of((*Claim).id, list)
}
