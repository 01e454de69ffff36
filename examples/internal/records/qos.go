package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cedesched/cede/examples/internal/input"
)

// QOS is a quality of service of Slurm.
type QOS struct {
	Name string
	// Preempts are the QOS whose jobs its own may preempt; its priority has nothing to do with that.
	Preempts []string
	// Within says that its jobs may preempt those of itself that have a lower priority (PreemptMode WITHIN).
	Within bool
	// ByPriority says that its jobs may preempt only jobs of lower priority (PreemptMode PRIORITY).
	ByPriority bool
	// Exempt is for how many seconds a job of it may not be preempted; -1: for ever.
	Exempt int64
	// Grace is how many seconds a job of it goes on once it is preempted.
	Grace int64
}

// wantQOS says how to get them.
const wantQOS = "want what this prints: sacctmgr --parsable2 show qos format=Name,Preempt,PreemptMode,PreemptExemptTime,GraceTime, or sacctmgr show qos --json"

// ReadQOS reads what sacctmgr show qos prints, with --parsable2 or --json. It fails with all faults of the file.
func ReadQOS(path string) ([]QOS, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := input.Text(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return QOSOf(text, path)
}

// QOSOf reads them from text; path names it in messages.
func QOSOf(text io.Reader, path string) ([]QOS, error) {
	all, err := io.ReadAll(io.LimitReader(text, maxRow+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(all) > maxRow:
		return nil, fmt.Errorf("%s: more than %d MiB: %s", path, maxRow>>20, wantQOS)
	}
	c := newCollector(path)
	var list []QOS
	if bytes.HasPrefix(bytes.TrimSpace(all), []byte("{")) {
		list, err = qosOfJSON(all, c)
	} else {
		err = readRows(bytes.NewReader(all), split('|'), c, table{name: "QOS", columns: []string{"name", "preempt"}, read: func(r *row) (Job, bool) {
			list = append(list, r.qos())
			return Job{}, false
		}})
		if err != nil && strings.Contains(err.Error(), "no known format") {
			err = fmt.Errorf("line 1: there are no columns Name and Preempt: %s", wantQOS)
		}
	}
	if err != nil {
		c.faults.add("%s", err)
	}
	for i, q := range list {
		switch {
		case q.Name == "":
			c.faults.add("QOS %d: the name is empty", i+1)
		case slices.ContainsFunc(list[:i], func(other QOS) bool { return other.Name == q.Name }):
			c.faults.add("QOS %q is there twice", q.Name)
		}
	}
	if len(list) == 0 && len(c.list) == 0 {
		c.faults.add("there is no QOS")
	}
	slices.SortFunc(list, func(a, b QOS) int { return strings.Compare(a.Name, b.Name) })
	return list, c.faults.err(path)
}

// qos is the QOS of a row.
func (r *row) qos() QOS {
	q := QOS{Name: r.text("name"), Within: hasMode(strings.Split(r.text("preemptmode"), ","), "within"),
		ByPriority: hasMode(strings.Split(r.text("preemptmode"), ","), "priority")}
	for name := range strings.SplitSeq(r.text("preempt"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			q.Preempts = append(q.Preempts, name)
		}
	}
	q.Exempt, q.Grace = r.limit("preemptexempttime"), r.limit("gracetime")
	return q
}

// limit is a number of seconds; 0: none, -1: for ever.
func (r *row) limit(column string) int64 {
	switch strings.ToUpper(r.text(column)) {
	case "", "NONE":
		return 0
	case "UNLIMITED", "INFINITE":
		return -1
	}
	return r.seconds(column)
}

func hasMode(modes []string, name string) bool {
	return slices.ContainsFunc(modes, func(mode string) bool { return strings.EqualFold(strings.TrimSpace(mode), name) })
}

// slurmNumber is a number as Slurm writes it in JSON, since its version 23.02; before, it is a number alone.
type slurmNumber struct{ Number int64 }

func (n *slurmNumber) UnmarshalJSON(text []byte) error {
	var of struct {
		Set, Infinite bool
		Number        int64
	}
	if json.Unmarshal(text, &n.Number) == nil {
		return nil
	}
	err := json.Unmarshal(text, &of)
	switch {
	case of.Infinite:
		n.Number = -1
	case of.Set:
		n.Number = of.Number
	}
	return err
}

func qosOfJSON(text []byte, c *collector) (list []QOS, err error) {
	var of struct {
		QOS []struct {
			Name    string
			Preempt struct {
				List, Mode []string
				ExemptTime slurmNumber `json:"exempt_time"`
			}
			Limits struct {
				GraceTime slurmNumber `json:"grace_time"`
			}
		}
	}
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, fmt.Errorf("%w: %s", err, wantQOS)
	}
	for _, q := range of.QOS {
		exempt, grace := q.Preempt.ExemptTime.Number, q.Limits.GraceTime.Number
		if exempt < -1 || exempt > maxSeconds || grace < -1 || grace > maxSeconds {
			c.faults.add("QOS %q: exempt_time %d, grace_time %d: want 0 to %d seconds", q.Name, exempt, grace, maxSeconds)
		}
		list = append(list, QOS{Name: q.Name, Preempts: q.Preempt.List, Within: hasMode(q.Preempt.Mode, "within"),
			ByPriority: hasMode(q.Preempt.Mode, "priority"), Exempt: exempt, Grace: grace})
	}
	return list, nil
}

// MayPreempt reports whether its list has a QOS. Within is another right.
func (q *QOS) MayPreempt(name string) bool { return slices.Contains(q.Preempts, name) }
