package slurm

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/records"
)

// byPartition reports whether partitions, not QOS, give the rights; known: that is known.
func (h *History) byPartition() (is, known bool) {
	t := strings.TrimPrefix(h.setting("PreemptType"), "preempt/")
	for _, q := range h.qos {
		known = known || h.config == nil && (q.Within || len(q.Preempts) > 0)
	}
	return t == "partition_prio", known || t == "partition_prio" || t == "qos"
}

// right says by which right a job may preempt a run; or what keeps that run; or why that is not known.
func (h *History) right(by, of *run) (right, kept, unknown string) {
	partitions, known := h.byPartition()
	switch {
	case by.Reserve != "":
		return "", "", "the preemptor has the reservation " + by.Reserve + ", which may have a right of its own"
	case !known && strings.HasSuffix(h.setting("PreemptType"), "none"):
		return "", "PreemptType is preempt/none", ""
	case !known:
		return "", "", "the QOS are not given, nor PreemptType: sacctmgr --parsable2 show qos and scontrol show config print them"
	case partitions:
		return h.rightOfPartition(by, of)
	}
	p, v := h.qos[by.QOS], h.qos[of.QOS]
	lower := by.Priority > of.Priority
	switch {
	case p == nil:
		return "", "", fmt.Sprintf("QOS %q is not given", by.QOS)
	case v == nil:
		return "", "", fmt.Sprintf("QOS %q is not given", of.QOS)
	case p.MayPreempt(v.Name) && p.ByPriority && !lower:
		return "", "", fmt.Sprintf("QOS %s preempts lower priorities (PreemptMode PRIORITY), and what they were then is not known", p.Name)
	case p.MayPreempt(v.Name):
		return fmt.Sprintf("QOS %s preempts %s", p.Name, v.Name), "", ""
	case p == v && p.Within && lower:
		return fmt.Sprintf("lower priority within QOS %s", p.Name), "", ""
	case p == v && p.Within:
		return "", "", fmt.Sprintf("within QOS %s lower priorities yield, and what they were then is not known", p.Name)
	}
	return "", fmt.Sprintf("QOS %s does not preempt %s", p.Name, v.Name), ""
}

// rightOfPartition is the right where PreemptType is preempt/partition_prio.
func (h *History) rightOfPartition(by, of *run) (right, kept, unknown string) {
	p, v := h.partitions[by.Partition], h.partitions[of.Partition]
	switch {
	case p == nil || v == nil:
		return "", "", fmt.Sprintf("partition %q or %q is not given: scontrol show partitions --json prints them", by.Partition, of.Partition)
	case p.tier > v.tier:
		return fmt.Sprintf("partition %s, tier %d, preempts %s", by.Partition, p.tier, of.Partition), "", ""
	}
	return "", fmt.Sprintf("partition %s has the tier %d, and %s has %d", by.Partition, p.tier, of.Partition, v.tier), ""
}

// nobody says that no job whatever may preempt a run; empty: some may, or it is not known.
func (h *History) nobody(of *run) string {
	partitions, known := h.byPartition()
	v := h.qos[of.QOS]
	if partitions || !known || v == nil || v.Within || h.reserved {
		return ""
	}
	for _, q := range h.qos {
		if q.MayPreempt(v.Name) {
			return ""
		}
	}
	return fmt.Sprintf("no QOS preempts %s", v.Name)
}

// grace is how long a run goes on once it is preempted.
func (h *History) grace(r *run) int64 {
	if q := h.qos[r.QOS]; q != nil {
		return max(q.Grace, 0)
	}
	return 0
}

// exempt says that a victim was preempted before the time at which its QOS lets it be; or why that is not known.
func (h *History) exempt(v *Victim) (broken, unknown string) {
	r, since, of := v.run, v.run.Start, "PreemptExemptTime"
	for _, x := range h.byJob[r.ID] {
		if x.State == "RESIZING" && x.End <= since {
			since = min(since, x.Start) // a row ends where a job's size changes
		}
	}
	limit, _ := records.Span(h.setting("PreemptExemptTime"))
	if q := h.qos[r.QOS]; q != nil && q.Exempt > 0 {
		limit, of = q.Exempt, "PreemptExemptTime of QOS "+q.Name
	}
	if part := h.partitions[r.Partition]; part != nil && part.qos != "" {
		if q := h.qos[part.qos]; q == nil || q.Exempt != 0 && q.Exempt != limit {
			return "", fmt.Sprintf("partition %s has the QOS %s, whose PreemptExemptTime may count", r.Partition, part.qos)
		}
	}
	text := fmt.Sprintf("%s is %v, and it ran for %v", of, time.Duration(limit)*time.Second, time.Duration(v.hi-since)*time.Second)
	switch {
	case v.hi-since < limit:
		return text, ""
	case v.lo-since < limit:
		return "", text + " or less: when it was told is not known"
	}
	return "", ""
}
