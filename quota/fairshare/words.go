package fairshare

import (
	"fmt"
	"strings"
)

// String says in one line where the share comes from, and how it compares with what the queue holds:
// "gpu: 3 (2 by quota, 0 by weight, 1 of the remainder); 5 requested, 0 used, starved of 3".
func (s Share) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d (%d by quota, %d by weight, %d of the remainder); %d requested, %d used",
		s.Resource, s.FairShare, s.Deserved, s.OverQuota, s.Remainder, s.Request, s.Usage)
	if s.Starved > 0 {
		fmt.Fprintf(&b, ", starved of %d", s.Starved)
	}
	if s.Over > 0 {
		fmt.Fprintf(&b, ", over by %d", s.Over)
	}
	return b.String()
}
