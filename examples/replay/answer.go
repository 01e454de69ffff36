package main

import (
	"fmt"
	"slices"
	"strings"
)

// answer is what to do about a world, in a sentence, and what that rests on.
type answer struct {
	text, rests string
	pays        bool
}

// answer answers for a world: the policy that pays and loses the least, or none.
func (g *worldGroup) answer() answer {
	first := g.policies[0]
	name := first.short
	switch {
	case first.broken:
		return answer{text: fmt.Sprintf("There is nothing to compare: %s was broken off, as jobs circle without end. Policies with stable do not.", name)}
	case first.Finished == 0:
		return answer{text: "No job could ever run."}
	case len(g.policies) == 1:
		text := fmt.Sprintf("%s loses %s %s-hours in %s%s.", name, hours(first.Lost()), first.Unit, count(first.Evictions, "eviction"),
			of(first.Lost(), first.Held))
		return answer{text: text, rests: g.rests(first)}
	}
	best, pays := g.best()
	if best == nil {
		return answer{text: fmt.Sprintf("Stay with %s: no other policy loses less.", name), rests: g.rests(first)}
	}
	length := span(first.Horizon)
	if g.seeds > 1 {
		length += fmt.Sprintf(" of each of %d seeds", g.seeds)
	}
	less := fmt.Sprintf("loses %s less than %s (%s instead of %s %s-hours in %s)", strings.TrimLeft(change(best.Lost(), first.Lost()), "-"),
		name, hours(best.Lost()), hours(first.Lost()), first.Unit, length)
	if !pays {
		var against []string
		for _, r := range best.against(first) {
			against = append(against, r.long)
		}
		text := fmt.Sprintf("Stay with %s: no other policy pays. %s %s, but %s.", name, best.short, less, strings.Join(against, ", "))
		return answer{text: text, rests: g.rests(best)}
	}
	circles := ""
	if best.mark() != "" {
		circles = " Jobs circle under it."
	}
	if best.mayBeChance(first) {
		text := fmt.Sprintf("Undecided: %s %s, which may be chance; more seeds would tell.%s", best.short, less, circles)
		return answer{text: text, rests: g.rests(best)}
	}
	const free = "jobs are done no later, and no priority waits longer"
	return answer{text: fmt.Sprintf("Use %s: it %s; %s.%s", best.short, less, free, circles), rests: g.rests(best), pays: true}
}

// best is the policy that pays and loses the least, or else the one that loses the least if that is less than the first.
func (g *worldGroup) best() (best *summary, pays bool) {
	first := g.policies[0]
	for _, s := range g.policies[1:] {
		does, _ := s.verdict(first)
		if s.broken || s.Lost() >= first.Lost() || pays && !does {
			continue
		}
		if best == nil || does && !pays || s.Lost() < best.Lost() {
			best, pays = s, does
		}
	}
	return best, pays
}

// rests says what the answer rests on.
func (g *worldGroup) rests(s *summary) string {
	first := g.policies[0]
	jobs := count(int64(first.Jobs), "job")
	switch i, ok := s.interval(first); {
	case s != first && ok:
		return fmt.Sprintf("It rests on %d seeds, %s: with 95 %% confidence the change of what is lost is %s.", g.seeds, jobs, i)
	case g.seeds > 1:
		return fmt.Sprintf("It rests on %d seeds, %s.", g.seeds, jobs)
	case first.runs[0].Seed == 0:
		return fmt.Sprintf("It rests on one replay of the records, %s: other weeks may differ.", jobs)
	}
	return fmt.Sprintf("It rests on one seed, %s: how much is chance is not known (-seeds 1-5 tells).", jobs)
}

// overall says which policy pays in the most worlds, the first of several; empty: there is one world, or nothing to compare.
func overall(groups []*worldGroup) string {
	pays, compared := map[string]int{}, 0
	var names []string
	for _, g := range groups {
		for _, s := range g.policies[1:] {
			if !slices.Contains(names, s.short) {
				names = append(names, s.short)
			}
			if does, _ := s.verdict(g.policies[0]); does {
				pays[s.short]++
			}
		}
		compared++
	}
	if compared < 2 || len(names) == 0 {
		return ""
	}
	best := names[0]
	for _, name := range names {
		if pays[name] > pays[best] {
			best = name
		}
	}
	switch n := pays[best]; n {
	case 0:
		return fmt.Sprintf("No policy pays in any of %d worlds.", compared)
	case compared:
		return fmt.Sprintf("%s pays in all %d worlds.", best, compared)
	default:
		return fmt.Sprintf("No policy pays in all %d worlds; %s does in %d.", compared, best, n)
	}
}

// of is a part of a whole in words; empty: there is none.
func of(part, whole int64) string {
	if whole < 1000 {
		return ""
	}
	return ", " + percent(part, whole) + " of what jobs hold"
}
