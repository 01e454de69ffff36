package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cedesched/cede/examples/internal/workers"
	"github.com/cedesched/cede/gate"
	"github.com/cedesched/cede/preemption"
)

// Fleet is the body of multikueue: a manager of MultiKueue, its workers, and what is asked of them.
type Fleet struct {
	// Now is the time of the question; absent: now.
	Now time.Time `json:"now"`
	// Manager are the objects of the manager, as kubectl prints them: a List, or one object after the other in a list.
	Manager json.RawMessage `json:"manager"`
	// Workers are its worker clusters.
	Workers []Worker `json:"workers"`
	// Workload is asked about alone; absent: all that the manager sent out and that does not run.
	Workload string `json:"workload"`
	// Timeout is how long each worker may try before the next gate opens; absent: 5m, as in Kueue.
	Timeout *Length `json:"timeout"`
	// Order and Grace ask about a manager by the design in place of Kueue 0.19's: in which order it opens gates, Preference being
	// that of workers, and how long after the first signal it waits for a worker in which nobody has to yield. Both absent: Kueue's.
	Order *gate.ReplicaOrder `json:"order"`
	Grace *Length            `json:"grace"`
	// Cost are resources: what victims lose is their amount times the time that the victims have run. Absent: their number counts,
	// then that time.
	Cost []string `json:"cost"`
	// Until is how far to play on, and Leave how long victims then take to leave; absent: not at all, and 30s.
	Until *Length `json:"until"`
	Leave *Length `json:"leave"`
}

// Worker is a worker cluster.
type Worker struct {
	// Name is that of its MultiKueueCluster in the manager.
	Name string `json:"name"`
	// Objects are as those of the manager.
	Objects json.RawMessage `json:"objects"`
}

// Length is a length of time as text: 90s, 5m, 1h30m.
type Length time.Duration

// UnmarshalText reads a length of time.
func (l *Length) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*l = Length(d)
	return err
}

// MarshalText writes a length of time.
func (l Length) MarshalText() ([]byte, error) { return []byte(time.Duration(l).String()), nil }

// Or is the length, or another one if it is absent.
func (l *Length) Or(other time.Duration) time.Duration {
	if l == nil {
		return other
	}
	return time.Duration(*l)
}

func (s *server) multikueue(_ context.Context, f *Fleet) (any, error) {
	if s.Fleet == nil {
		return nil, errors.New("this server does not answer about several clusters")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.Now.IsZero() {
		f.Now = s.Now()
	}
	return s.Fleet(f)
}

// check returns all that is wrong with a body, but for its objects.
func (f *Fleet) check() error {
	var faults preemption.Faults
	if len(f.Manager) == 0 {
		faults.Add("manager", "is missing: the objects of the manager cluster")
	}
	if len(f.Workers) == 0 {
		faults.Add("workers", "is empty: give each worker cluster")
	}
	names := map[string]bool{}
	for i := range f.Workers {
		w, path := &f.Workers[i], fmt.Sprintf("workers[%d]", i)
		switch {
		case w.Name == "":
			faults.Add(path+".name", "is empty: want the name of its MultiKueueCluster")
		case names[w.Name]:
			faults.Add(path+".name", "%q is there twice", w.Name)
		}
		if names[w.Name] = true; len(w.Objects) == 0 {
			faults.Add(path+".objects", "is missing")
		}
	}
	if f.Timeout != nil && *f.Timeout <= 0 {
		faults.Add("timeout", "%v: want more than 0; who wants preemption in all workers at once sets no gates", time.Duration(*f.Timeout))
	}
	if f.Grace != nil && *f.Grace < 0 {
		faults.Add("grace", "%v: want 0 or more", time.Duration(*f.Grace))
	}
	for i, name := range f.Cost {
		if name == "" {
			faults.Add(fmt.Sprintf("cost[%d]", i), "is empty: want the name of a resource")
		}
	}
	if f.Until != nil && *f.Until <= 0 {
		faults.Add("until", "%v: want more than 0", time.Duration(*f.Until))
	}
	if f.Leave != nil && (*f.Leave < 0 || f.Until == nil) {
		faults.Add("leave", "%v: want 0 or more, with until", time.Duration(*f.Leave))
	}
	return faults.Err()
}

// Asked is what is asked of the clusters.
func (f *Fleet) Asked() workers.Asked {
	a := workers.Asked{Workload: f.Workload, Timeout: f.Timeout.Or(0), Until: f.Until.Or(0), Leave: f.Leave.Or(30 * time.Second)}
	if f.Order != nil || f.Grace != nil {
		a.Design = &workers.Design{Grace: f.Grace.Or(0)}
		if f.Order != nil {
			a.Design.Order = *f.Order
		}
		for i := range f.Workers {
			a.Design.Prefer = append(a.Design.Prefer, f.Workers[i].Name)
		}
	}
	if len(f.Cost) > 0 {
		a.Cost = preemption.CostByAge{Resources: f.Cost}
	}
	return a
}
