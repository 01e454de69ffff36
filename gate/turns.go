package gate

import (
	"slices"
	"time"
)

// Turn is when the gate of a replica opens.
type Turn struct {
	Name string
	At   time.Time
}

// Turns says in which order and when the gates of the replicas that wait for an opening open from now on, if each is opened when it
// is to be and nothing else changes: no replica gets its quota, signals, stops to signal or is evicted. The replicas stay as they
// are. It fails as [Orchestrate] does.
func Turns(c Config, now time.Time, replicas []Replica) (turns []Turn, err error) {
	replicas = slices.Clone(replicas)
	name := c.Gate
	if name == "" {
		name = MultiKueue
	}
	for {
		act, err := Orchestrate(c, now, replicas)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(replicas, func(r Replica) bool { return r.Name == act.Open })
		switch {
		case act.Open != "" && replicas[at].Gates.Has(name):
			turns = append(turns, Turn{act.Open, now})
			replicas[at].Gates = replicas[at].Gates.Opened(name, now)
		case act.Open != "": // Kueue opens it in vain, over and over
			return append(turns, Turn{act.Open, now}), nil
		case act.WakeAt.IsZero():
			return turns, nil
		default:
			now = act.WakeAt
		}
	}
}
