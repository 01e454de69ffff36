package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/preemption/moves"
	"github.com/cedesched/cede/preemption/placement"
	"github.com/cedesched/cede/quota"
)

// ClearText returns a page about domains that are to be empty: which are, what one, two and more of
// them cost, which units move and where, which yield, in which order, and what keeps the others.
func (pr Printer) ClearText(a moves.ClearAnswer) string {
	p := pr.page()
	var cleared []string
	for _, c := range a.Cleared {
		cleared = append(cleared, c.Domain)
	}
	list := "no domain"
	if len(cleared) > 0 {
		list = strings.Join(cleared, ", ")
	}
	switch {
	case a.Outcome == preemption.Fits:
		p.line(0, "Empty already: %s.", list)
	case a.Outcome == preemption.Preempt:
		p.line(0, "To be empty: %s, once %s.", list, together(a.Moves, a.Victims))
	case a.Outcome == preemption.Wait:
		p.line(0, "Fewer can be emptied before %s than are asked: %s.", clock(a.RetryAt, a.Now), list)
	default:
		p.line(0, "Fewer can be emptied than are asked "+untilChanged+": %s.", list)
	}
	of := a.Cleared
	if len(of) == 1 && len(a.Moves)+len(a.Victims) > 0 {
		of = nil // what it costs follows
	}
	if len(of) > 0 {
		p.head("What one, two and more of them cost")
	}
	var sum moves.Cost
	for i, c := range of {
		sum.Lost, sum.Pods = quota.Add(sum.Lost, c.Cost.Lost), sum.Pods+c.Cost.Pods
		p.line(2, "%d, %s last: %d lost; %s, %s; %s", i+1, c.Domain, sum.Lost, counted(c.Moves, "moves", "move"),
			counted(c.Yields, "yields", "yield"), stopping(sum.Pods))
	}
	p.movesAndSteps(a.Moves, a.Victims, a.Cost, a.Steps)
	if len(a.Blocked) > 0 {
		p.head("What keeps the others")
		for _, b := range a.Blocked {
			p.line(2, "%s: %s %s", b.Domain, nameOfUnit(b.Group, b.Pod), blockedBecause(&b, a.Now))
		}
	}
	return p.String()
}

// counted is a number of units with a verb.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 unit " + one
	}
	return fmt.Sprintf("%d units %s", n, several)
}

func stopping(pods int64) string {
	if pods == 1 {
		return "1 pod stops"
	}
	return count(pods, "pod") + " stop"
}

func nameOfUnit(group, pod string) string {
	if group != "" {
		return "group " + group
	}
	return pod
}

// together says in a clause what has to happen.
func together(list []moves.Move, victims []placement.Victim) string {
	var moved, yielded tally
	for _, m := range list {
		moved.add(nameOfUnit(m.Group, m.Pods[0].Pod))
	}
	for _, v := range victims {
		yielded.add(nameOfUnit(v.Group, v.Pods[0]))
	}
	verb := func(n int64) string {
		if n == 1 {
			return " has "
		}
		return " have "
	}
	var parts []string
	if moved.count > 0 {
		parts = append(parts, moved.String()+verb(moved.count)+"moved")
	}
	if yielded.count > 0 {
		parts = append(parts, yielded.String()+verb(yielded.count)+"yielded")
	}
	return strings.Join(parts, " and ")
}

// movesAndSteps writes who goes where, what is lost, and the order.
func (p *page) movesAndSteps(list []moves.Move, victims []placement.Victim, cost moves.Cost, steps []moves.Step) {
	if len(list) > 0 {
		p.head("What moves")
	}
	for _, m := range list {
		for _, pod := range m.Pods {
			p.line(2, "%s: from %s to %s", pod.Pod, pod.From, pod.To)
		}
	}
	if len(victims) > 0 {
		p.head("What yields")
	}
	for _, v := range victims {
		p.line(2, "%s", strings.Join(v.Pods, ", "))
	}
	if len(list)+len(victims) > 0 {
		p.line(0, "In all %s, %d lost.", stopping(cost.Pods), cost.Lost)
	}
	if len(steps) == 0 {
		return
	}
	p.head("In which order")
	for i, s := range steps {
		var parts []string
		if len(s.Stop) > 0 {
			parts = append(parts, "stop "+strings.Join(s.Stop, ", "))
		}
		for _, n := range s.Start {
			parts = append(parts, "start "+n.Pod+" on "+n.Node)
		}
		p.line(2, "%d. %s", i+1, strings.Join(parts, "; "))
	}
}

func blockedBecause(b *moves.Blocked, now time.Time) string {
	switch b.Cause {
	case moves.NoPlace:
		return "has no other place and must not yield"
	case moves.Budget:
		return "may not stop: its disruption budget forbids it, or it has to start first"
	case moves.Promised:
		return "is promised room there"
	}
	return unitWhy(b.Rule, 1) + until(b.Until, now)
}
