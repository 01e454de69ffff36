package history

import (
	"bytes"
	"slices"
	"time"
)

// Job is a workload of a history as one replays it: when it came, and how long it ran.
type Job struct {
	Workload string // NAMESPACE/NAME
	UID      string
	Created  time.Time
	Runs     []time.Duration // each time that it held quota, as far as that is known, until it was told to leave
	Goes     bool            // the last of them goes on where the history ends
}

// Jobs lists the workloads by UID.
func (h *History) Jobs() (list []Job) {
	for _, l := range h.sorted {
		if l.object == nil {
			continue
		}
		j := Job{Workload: l.id, UID: l.uid, Created: l.created}
		for _, s := range l.spans {
			to := s.to
			if j.Goes = to.IsZero(); j.Goes {
				to = h.Last
			}
			for _, t := range l.told {
				if !t.at.Before(s.at) && t.at.Before(to) && !to.Equal(l.end) {
					to = t.at
				}
			}
			j.Runs = append(j.Runs, to.Sub(s.at))
		}
		list = append(list, j)
	}
	return list
}

// Grace is how long a victim holds its quota once it is told to leave: the median of those of which it is known; zero: of none.
func (h *History) Grace() time.Duration {
	var all []time.Duration
	for _, l := range h.sorted {
		for _, s := range l.spans {
			for _, t := range l.told {
				if t.cause == preempted && !t.at.Before(s.at) && !t.at.After(s.to) && s.to.Equal(s.until) {
					all = append(all, s.to.Sub(t.at))
				}
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Waiting is the configuration as it is at the end and every workload as one that waits, as events of a watch.
func (h *History) Waiting() []byte {
	var b bytes.Buffer
	for _, name := range h.named {
		list := h.config[name]
		b.Write(list[len(list)-1].text)
	}
	for _, l := range h.sorted {
		if l.object != nil {
			b.Write(document(l.object, "MODIFIED", l.status(view{waits: true}, nil)))
		}
	}
	return b.Bytes()
}

// Changed lists the objects of the configuration that were not the same all the time: KIND NAME.
func (h *History) Changed() (names []string) {
	for _, name := range h.named {
		if len(h.config[name]) > 1 {
			names = append(names, name)
		}
	}
	return names
}
