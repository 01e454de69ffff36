package kueue

import (
	"fmt"

	"github.com/cedesched/cede/examples/bridge"
)

// The sources of facts about fair sharing; a more certain source has a higher number.
const (
	fromWeight = 1 + iota
	fromStatus
	fromConfiguration
)

// sharing is what an object says about fair sharing.
type sharing struct {
	rank int // 0: nothing
	bridge.FairSharing
}

// sharingOf returns what a queue or cohort says: Kueue writes the status only with fair
// sharing; a weight is a hint, because weights mean nothing without it. A weight of 1 is none: it is the
// default.
func sharingOf(where string, spec *FairSharing, status *QueueStatus) sharing {
	switch {
	case status.FairSharing != nil:
		return sharing{fromStatus, bridge.FairSharing{Known: true, On: true, Source: "status.fairSharing of " + where}}
	case spec.Weight != nil && spec.Weight.Float64() != 1:
		return sharing{fromWeight, bridge.FairSharing{Known: true, On: true, Guess: true, Source: "the weight of " + where}}
	}
	return sharing{}
}

// doubtSharing says that fair sharing is a guess, where weights alone speak of it.
func (b *builder) doubtSharing() {
	if known := b.c.Sharing; known.Guess {
		b.doubtReach(reach{all: true}, bridge.Note{Object: known.Source, Path: bridge.SharingPath,
			Text: fmt.Sprintf("whether fair sharing is on: %s means nothing without it, and no Configuration is in the input", known.Source)})
	}
}
