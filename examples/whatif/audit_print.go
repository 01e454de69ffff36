package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/examples/internal/history"
	"github.com/cedesched/cede/examples/internal/printable"
	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/audit"
	"github.com/cedesched/cede/quota"
)

// tally counts preemptions.
type tally struct {
	Queue        string `json:"queue,omitempty"` // of the preemptors; absent: all, or not known
	Cause        string `json:"cause,omitempty"` // by which right, as Kueue says; absent: all, or it does not say
	Preemptions  int    `json:"preemptions"`
	Victims      int    `json:"victims"`
	Right        int    `json:"right"`
	NotNeeded    int    `json:"notNeeded"`    // somebody could stay
	NotPermitted int    `json:"notPermitted"` // no rule permits a victim
	Unknown      int    `json:"unknown"`
	NotStarted   int    `json:"notStarted"` // the preemptor has not started since
	TakenBack    int    `json:"takenBack"`  // a victim took its room back from the preemptor later
	Lost         int64  `json:"lost"`       // by the preemptions that are not unknown: amounts × seconds
	Avoidable    int64  `json:"avoidable"`  // of that, at least
}

func (t *tally) add(j *judged) {
	t.Preemptions++
	t.Victims += len(j.Victims)
	if f := j.found; f != nil {
		t.Lost, t.Avoidable = quota.Add(t.Lost, f.lost), quota.Add(t.Avoidable, f.avoidable)
	}
	if j.Started.IsZero() && j.Preemptor != "" {
		t.NotStarted++
	}
	if len(j.Circle) > 0 {
		t.TakenBack++
	}
	switch j.Verdict {
	case audit.Right.String():
		t.Right++
	case audit.Fitted.String(), audit.TooMany.String():
		t.NotNeeded++
	case audit.NotPermitted.String():
		t.NotPermitted++
	default:
		t.Unknown++
	}
}

// cause is by which right, as Kueue says it of the victims; several: each is named.
func (j *judged) cause() string {
	var list []string
	for _, v := range j.Victims {
		if v.Reason != "" && !slices.Contains(list, v.Reason) {
			list = append(list, v.Reason)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// count counts all preemptions, and those of each queue and cause.
func (a *auditor) count() (all tally, rows []tally) {
	for i := range a.list {
		j := &a.list[i]
		all.add(j)
		at := slices.IndexFunc(rows, func(t tally) bool { return t.Queue == j.Queue && t.Cause == j.cause() })
		if at < 0 {
			at, rows = len(rows), append(rows, tally{Queue: j.Queue, Cause: j.cause()})
		}
		rows[at].add(j)
	}
	slices.SortFunc(rows, func(a, b tally) int { return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Cause, b.Cause)) })
	return all, rows
}

func (a *auditor) result() result {
	all, rows := a.count()
	status, names := cli.StatusYes, []string{}
	if all.Unknown > 0 {
		status = cli.StatusUnknown
	}
	if all.NotNeeded+all.NotPermitted > 0 {
		status = cli.StatusNo
	}
	for i := range a.list {
		for _, v := range a.list[i].Victims {
			if a.list[i].wrong() && !slices.Contains(names, v.Workload) {
				names = append(names, v.Workload)
			}
		}
	}
	return result{status, func(b *cli.Page) { a.print(b, all, rows) }, struct {
		From        time.Time `json:"from"`
		Until       time.Time `json:"until"`
		Resources   []string  `json:"resources"` // of what the victims' use counts as lost, in amounts × seconds
		All         tally     `json:"all"`
		Rows        []tally   `json:"rows"`               // by queue of the preemptor and cause
		Preemptions []judged  `json:"preemptions"`        // by time
		Replayed    *replayed `json:"replayed,omitempty"` // with the changes of the command line
		Notes       []string  `json:"notes"`
	}{a.first, a.last, append([]string{}, a.resources...), all, append([]tally{}, rows...), append([]judged{}, a.list...), a.replayed, append([]string{}, a.notes...)}, names}
}

// wrong reports whether a preemption is known not to be right.
func (j *judged) wrong() bool {
	return j.Verdict != audit.Right.String() && j.Verdict != unknownVerdict
}

func (a *auditor) print(b *cli.Page, all tally, rows []tally) {
	a.printSentence(b, all)
	if len(a.list) == 0 {
		printNotes(b, a.notes)
		return
	}
	if a.o.audit.story != "" {
		a.printStory(b)
		printNotes(b, a.notes)
		return
	}
	b.Gap()
	a.printTable(b, rows)
	shown, wide := 0, b.Screen.Width == 0 || a.o.output == "wide"
	for i := range a.list {
		if j := &a.list[i]; j.wrong() {
			if shown++; shown > maxNotes && !wide {
				continue
			}
			b.SayIn(j.colour(), "%s %s\n", clockText(j.At), a.sentence(j))
		}
	}
	if shown > maxNotes && !wide {
		b.Say("... and %d more; -o wide has all.\n", shown-maxNotes)
	}
	a.printUnknown(b)
	printNotes(b, a.notes)
}

// causes are short words for the rights of Kueue.
var causes = map[string]string{
	"InClusterQueue": "own queue", "InCohortReclamation": "reclaim", "InCohortReclaimWhileBorrowing": "while borrowing",
	"InCohortFairSharing": "fair sharing", "Priority": "priority", "": "not known",
}

// causes says by which rights.
func (t *tally) causes() string {
	var list []string
	for _, c := range strings.Split(t.Cause, ",") {
		list = append(list, cmp.Or(causes[c], c))
	}
	return strings.Join(list, ", ")
}

// number is a column of the table.
type number struct {
	name string
	of   func(*tally) int
}

// numbers are the columns for some rows: what is nowhere takes no room.
func numbers(rows []tally, more ...number) []number {
	list := append([]number{
		{"all", func(r *tally) int { return r.Preemptions }}, {"right", func(r *tally) int { return r.Right }},
		{"too many", func(r *tally) int { return r.NotNeeded }}, {"no right", func(r *tally) int { return r.NotPermitted }},
		{"unknown", func(r *tally) int { return r.Unknown }},
	}, more...)
	return slices.DeleteFunc(list, func(n number) bool {
		return n.name != "all" && !slices.ContainsFunc(rows, func(r tally) bool { return n.of(&r) > 0 })
	})
}

func (a *auditor) printTable(b *cli.Page, rows []tally) {
	numbers := numbers(rows)
	t := &cli.Table{Columns: []cli.Column{{Name: "queue", Least: 16, Cut: true}, {Name: "cause", Least: 9, Cut: true}}}
	for _, n := range numbers {
		t.Columns = append(t.Columns, cli.Column{Name: n.name, Right: true})
	}
	t.Columns = append(t.Columns, cli.Column{Name: "lost", Right: true}, cli.Column{Name: "avoidable", Right: true})
	for _, r := range rows {
		cells := []any{cmp.Or(r.Queue, "(not known)"), r.causes()}
		for _, n := range numbers {
			cells = append(cells, fmt.Sprint(n.of(&r)))
		}
		t.Row(append(cells, a.number(r.Lost), a.number(r.Avoidable))...)
	}
	b.Table(t)
}

// printUnknown says why preemptions are unknown, each reason once.
func (a *auditor) printUnknown(b *cli.Page) {
	count, reasons := map[string]int{}, []string{}
	for i := range a.list {
		if why := a.list[i].Unknown; why != "" {
			if count[why]++; count[why] == 1 {
				reasons = append(reasons, why)
			}
		}
	}
	slices.SortStableFunc(reasons, func(x, y string) int { return count[y] - count[x] })
	for i, why := range reasons {
		if i == maxNotes && b.Screen.Width > 0 {
			b.Say("... and %d more reasons; -o wide has all.\n", len(reasons)-i)
			break
		}
		b.SayIn(printable.Yellow, "Unknown (%d): %s.\n", count[why], why)
	}
}

// printSentence says the answer.
func (a *auditor) printSentence(b *cli.Page, all tally) {
	from, until := a.first.UTC().Format(time.RFC3339), a.last.UTC().Format(time.RFC3339)
	if len(a.list) == 0 {
		b.Say("From %s to %s nobody was preempted, as far as the history says.\n", from, until)
		return
	}
	colour, parts := printable.Green, []string{plural(all.Right, "1 was right", "%d were right")}
	for _, p := range []struct {
		n         int
		one, many string
		colour    printable.Colour
	}{
		{all.Unknown, "1 is unknown", "%d are unknown", printable.Yellow},
		{all.NotNeeded, "1 had a victim that could stay", "%d had a victim that could stay", printable.Red},
		{all.NotPermitted, "1 had a victim that no rule permits", "%d had a victim that no rule permits", printable.Red},
	} {
		if p.n > 0 {
			parts, colour = append(parts, plural(p.n, p.one, p.many)), p.colour
		}
	}
	b.SayIn(colour, "Of %s, in which %s told to leave, %s.\n", plural(all.Preemptions, "1 preemption", "%d preemptions"),
		plural(all.Victims, "1 workload was", "%d workloads were"), joined(parts))
	b.Say("From %s to %s they lost %s, of which at least %s could have been kept.\n", from, until, a.hours(all.Lost), a.hours(all.Avoidable))
	if all.NotStarted > 0 {
		b.Say("%s\n", plural(all.NotStarted, "In 1 of them the preemptor has not started since.", "In %d of them the preemptor has not started since."))
	}
	if all.TakenBack > 0 {
		b.Say("%s\n", plural(all.TakenBack, "In 1 of them a victim took its room back from the preemptor later.",
			"In %d of them a victim took its room back from the preemptor later."))
	}
	if a.o.changes() {
		kept, known := 0, 0
		for i := range a.list {
			if j := &a.list[i]; j.Verdict == audit.Right.String() && j.Changed != "" {
				known++
				if j.Changed == audit.NotPermitted.String() || j.Changed == audit.Fitted.String() {
					kept++
				}
			}
		}
		b.Say("With the changes %d of the %d that were right would not have happened, each judged by itself.\n", kept, known)
		a.printReplay(b)
	}
}

// joined joins parts of a sentence.
func joined(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

func (j *judged) colour() printable.Colour {
	switch {
	case j.wrong():
		return printable.Red
	case j.Verdict == unknownVerdict:
		return printable.Yellow
	}
	return printable.Plain
}

func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// number is what was lost, without its unit.
func (a *auditor) number(lost int64) string {
	n, _, _ := strings.Cut(a.hours(lost), " ")
	return n
}

// sentence says what is to be said of a preemption.
func (a *auditor) sentence(j *judged) string {
	var victims, stay []string
	for _, v := range j.Victims {
		victims = append(victims, v.Workload)
	}
	who := cmp.Or(j.Preemptor, "somebody")
	f := j.found
	if f == nil {
		return fmt.Sprintf("%s preempted %s: unknown: %s.", who, some(victims), j.Unknown)
	}
	spared := int64(0)
	for i, v := range f.victims {
		if v.stays {
			stay, spared = append(stay, victims[i]), quota.Add(spared, v.lost)
		}
	}
	text := who + " preempted " + some(victims)
	switch {
	case f.verdict == audit.Fitted && f.leaving != "":
		text = fmt.Sprintf("%s did not need %s: %s was leaving already; %s lost", who, some(victims), f.leaving, a.hours(spared))
	case f.verdict == audit.Fitted:
		text = fmt.Sprintf("%s fit while %s stayed; %s lost", who, some(victims), a.hours(spared))
	case f.verdict == audit.TooMany:
		text = fmt.Sprintf("%s did not need %s; %s lost", who, some(stay), a.hours(spared))
	case f.verdict == audit.NotPermitted:
		spared = 0
		text = fmt.Sprintf("%s may not preempt %s", who, cmp.Or(strings.Join(j.Why, "; "), some(victims)+", or not together"))
	}
	switch {
	case f.avoidable <= spared:
	case f.cheaper != "":
		text += fmt.Sprintf("; %s would have lost %s less", f.cheaper, a.hours(f.avoidable))
	case f.instead != "":
		text += "; " + f.instead
	}
	if len(j.Circle) > 0 {
		text += "; later " + some(j.Circle) + " took the room back"
	}
	return text + "."
}

// someOf names victims; empty: there is none.
func someOf(victims []preemption.Victim) string {
	if len(victims) == 0 {
		return ""
	}
	return some(answers.VictimNames(victims))
}

// printStory tells all preemptions of a workload and by it.
func (a *auditor) printStory(b *cli.Page) {
	told := 0
	for i := range a.list {
		j := &a.list[i]
		of := func(v string) bool { return v == a.o.audit.story }
		if !of(j.Preemptor) && !slices.ContainsFunc(j.Victims, func(v history.Victim) bool { return of(v.Workload) }) {
			continue
		}
		told++
		b.Gap()
		b.SayIn(j.colour(), "%s %s\n", clockText(j.At), a.sentence(j))
		for _, line := range a.story(j) {
			b.SayAt(2, "%s\n", line)
		}
	}
	if told == 0 {
		b.Say("No preemption of %s or by it is in the history.\n", a.o.audit.story)
	}
}

// story tells of a preemption what happened to each victim, and what the preemptor got.
func (a *auditor) story(j *judged) (lines []string) {
	for k, v := range j.Victims {
		text := v.Workload
		if !v.Since.IsZero() {
			text += fmt.Sprintf(" ran for %v", j.At.Sub(v.Since).Round(time.Second))
		}
		if f := j.found; f != nil {
			text += ", lost " + a.hours(f.victims[k].lost)
			if right := f.victims[k].right; right != "" {
				text += ": " + right
			}
		}
		if !v.Back.IsZero() {
			text += fmt.Sprintf("; it ran again after %v", v.Back.Sub(j.At).Round(time.Second))
		} else {
			text += "; it has not run again"
		}
		lines = append(lines, text)
	}
	switch {
	case !j.Started.IsZero():
		lines = append(lines, fmt.Sprintf("%s started %v later", j.Preemptor, j.Started.Sub(j.At).Round(time.Second)))
	case j.Preemptor != "":
		lines = append(lines, j.Preemptor+" has not started")
	}
	for _, n := range j.Notes {
		lines = append(lines, fmt.Sprintf("Note: %s.", strings.TrimSuffix(n, ".")))
	}
	return lines
}
