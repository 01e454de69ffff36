package main

import (
	"slices"
	"strings"
	"testing"
)

// With -order or -grace the answer is that of a manager by the design. In 17 a is open since 09:27:00, c signals since 09:28:20, b by
// its clock since 09:34:30; two workloads yield in b, one in c.
func TestManagerByTheDesign(t *testing.T) {
	closed := func(w world) { position(copyOf(w, "a", codec), "Closed", "09:20:00") }
	both := func(w world) { // b signals first, and costs more
		closed(w)
		condition(copyOf(w, "a", codec), "BlockedOnPreemptionGates", "", "", "")
		condition(copyOf(w, "b", codec), "BlockedOnPreemptionGates", "True", "PreemptionGated", "09:28:00")
		condition(copyOf(w, "c", codec), "BlockedOnPreemptionGates", "True", "PreemptionGated", "09:28:20")
	}
	for name, c := range map[string]struct {
		change       func(w world)
		args         []string
		want, opens  string
		says, unsaid string
	}{
		"first signal":                         {both, []string{"-order", "FirstSignal"}, "gate-opens-now b", "b 09:30:00 c 09:35:00", "", "design"},
		"cheapest":                             {both, []string{"-order", "Cheapest"}, "gate-opens-now c", "b 09:35:00 c 09:30:00", "", ""},
		"preference, as the workers are named": {both, []string{"-order", "Preference"}, "gate-opens-now b", "b 09:30:00 c 09:35:00", "", ""},
		"preference the other way round":       {both, []string{"-order", "Preference", "turned"}, "gate-opens-now c", "b 09:35:00 c 09:30:00", "", ""},
		"a grace that is not over":             {both, []string{"-grace", "4m"}, "gate-opens-at b at 09:32:00", "b 09:32:00 c 09:37:00", "4m after b signalled", ""},
		"a grace that is over":                 {both, []string{"-grace", "1m"}, "gate-opens-now b", "b 09:30:00 c 09:35:00", "", ""},
		"another timeout":                      {both, []string{"-grace", "0s", "-timeout", "2m"}, "gate-opens-now b", "b 09:30:00 c 09:32:00", "", ""},
		"a lost worker keeps its turn":         {func(w world) { lose(w, "a") }, []string{"-order", "FirstSignal"}, "gate-opens-at c at 09:32:00", "b 09:37:00 c 09:32:00", "by the design no other opens", "it forgets that copy"},
		"equal signals": {func(w world) {
			both(w)
			condition(copyOf(w, "c", codec), "BlockedOnPreemptionGates", "True", "PreemptionGated", "09:28:00")
		}, []string{"-order", "FirstSignal"}, "gate-opens-now b", "b 09:30:00 c 09:35:00", "", "Kueue takes any"},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldOf(t, "17-clock-off")
			c.change(w)
			args := append(arguments(t, w.write(t)), "-workload", codec)
			for _, arg := range c.args {
				if arg != "turned" {
					args = append(args, arg)
					continue
				}
				for i, j := slices.Index(args, "-worker"), len(args)-1; i < j; i++ {
					if strings.HasPrefix(args[i], "a=") {
						at := slices.IndexFunc(args, func(s string) bool { return strings.HasPrefix(s, "c=") })
						args[i], args[at] = args[at], args[i]
						break
					}
				}
			}
			_, list := askAll(t, args)
			a := &list[0]
			var opens []string
			for _, r := range a.Workers {
				if !r.Opens.IsZero() {
					opens = append(opens, r.Worker+" "+r.Opens.Format("15:04:05"))
				}
			}
			text := a.Sentence + strings.Join(a.Doubts, "; ")
			if got := (reply{a.Verdict, a.Cluster, a.At}).String(); got != c.want || strings.Join(opens, " ") != c.opens || a.Design != "" {
				t.Errorf("%s, %q, %s, want %s, %q", got, opens, a.Sentence, c.want, c.opens)
			}
			if !strings.Contains(text, c.says) || c.unsaid != "" && strings.Contains(text, c.unsaid) {
				t.Errorf("%s", text)
			}
		})
	}
}

// -cost compares victims by what they take: many small ones may cost less than one that is large.
func TestCostOfMultiKueue(t *testing.T) {
	args := append(arguments(t, situations+"/17-clock-off"), "-workload", codec)
	_, plain := askAll(t, args)
	_, priced := askAll(t, append(args, "-cost", "nvidia.com/gpu"))
	for i, r := range priced[0].Workers {
		gpu, known := r.Lost.Get()
		if yields := len(priced[0].Victims[r.Worker]) > 0; yields && (!known || gpu < r.LostWork) || !plain[0].Workers[i].Lost.IsZero() {
			t.Errorf("%s loses %v, has run %d s, without a cost %v", r.Worker, r.Lost, r.LostWork, plain[0].Workers[i].Lost)
		}
	}
	if plain[0].Sentence != priced[0].Sentence {
		t.Errorf("a cost changes what Kueue's manager does: %s", priced[0].Sentence)
	}
}

// Played on by the design, the opening of a lost worker counts until its turn is over; Kueue forgets it.
func TestForecastByTheDesign(t *testing.T) {
	w := worldOf(t, "17-clock-off")
	lose(w, "a")
	args := append(arguments(t, w.write(t)), "-workload", codec, "-until", "1h")
	for want, args := range map[string][]string{
		"in c at the latest at 09:30:30": args,
		"in c at the latest at 09:32:30": append(slices.Clip(args), "-order", "FirstSignal"),
		"in c at the latest at 09:36:50": append(slices.Clip(args), "-grace", "8m"),
	} {
		if _, list := askAll(t, args); !strings.Contains(list[0].Forecast.Sentence, want) {
			t.Errorf("%s, want %s", list[0].Forecast.Sentence, want)
		}
	}
}
