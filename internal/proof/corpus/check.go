package corpus

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cedesched/cede/preemption"
	"github.com/cedesched/cede/quota"
)

// Report is the result of a case.
type Report struct {
	// Differences lists what differs and no departure explains.
	Differences []Difference
	// Departures names the departures that explain what differs on purpose.
	Departures []string
	// NotAsked says why the case cannot be asked. Else empty.
	NotAsked string
}

// Passed reports whether departures explain all that differs.
func (r *Report) Passed() bool { return len(r.Differences) == 0 }

// Difference is one answer that differs.
type Difference struct {
	What string   `json:"what"`
	Want []string `json:"want"` // sorted
	Got  []string `json:"got"`
}

// AlreadyFits is the departure for a request that fits with nobody preempted. Kueue tests
// the fit only after the first removal and so names a victim. Here the outcome is Fits.
const AlreadyFits = "the request already fits"

// Check asks a case, a fair one under its own configuration, and compares victims with
// reasons, oracle rows, quota and share rows. The error says that the case could not
// be asked.
func (c *Case) Check(p *preemption.Preemptor) (Report, error) {
	if c.Mode == "fair" {
		config, err := c.Config()
		if err == nil {
			p, err = preemption.New(config)
		}
		if err != nil {
			return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
		}
	}
	rows, err := c.ask(p, c.State())
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	lent := rows
	if c.unlimitedLends(c.columns()...) {
		if lent, err = c.ask(p, c.withoutUnlimited()); err != nil {
			return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
		}
	}
	var r Report
	for i := range rows {
		row, e := &rows[i], excuse{}
		switch {
		case row.fits:
			e = excuse{AlreadyFits, row.unasked}
		case c.unlimitedLends(row.columns...):
			e = excuse{UnlimitedLends, lent[i].got}
		case row.leaving:
			e = excuse{LeavingIsEnough, row.got}
		}
		r.compareUnless(e, row.what, row.want, row.got)
	}
	return r, nil
}

// answerRow is one answer about a case.
type answerRow struct {
	what      string
	want, got []string
	columns   []quota.FlavorResource // that it is about
	leaving   bool                   // see LeavingIsEnough
	fits      bool                   // what is asked for fits by Kueue's own rows
	unasked   []string               // then the answer here
}

// ask returns all answers about a state of the case, in a fixed order.
func (c *Case) ask(p *preemption.Preemptor, st preemption.State) (list []answerRow, err error) {
	s, err := preemption.NewSnapshot(st)
	if err != nil {
		return nil, err
	}
	request := c.Request()
	d, err := p.Decide(s, request)
	if err != nil {
		return nil, err
	}
	victims := answerRow{what: "victims", want: wantVictims(c.Want.Victims), got: gotVictims(d.Victims), fits: d.Outcome == preemption.Fits}
	for _, a := range request.Workload.Usage() {
		victims.fits = victims.fits && c.fitsAlready(a)
		victims.columns = append(victims.columns, a.FlavorResource())
	}
	if victims.leaving, err = c.leavingIsEnough(st, request, d.Victims); err != nil {
		return nil, err
	}
	list = append(list, victims)
	request.Workload.NeverPreempts = false // Kueue's oracle asks what preemption could do
	for _, row := range c.Want.Oracle {
		f, err := p.Forecast(s, request, row.Amount)
		if err != nil {
			return nil, fmt.Errorf("oracle %v: %w", row.FlavorResource(), err)
		}
		text := func(possibility string, height int) []string {
			return []string{fmt.Sprintf("%s, borrow height %d", possibility, height)}
		}
		list = append(list, answerRow{
			what: fmt.Sprintf("oracle %v", row.FlavorResource()), columns: []quota.FlavorResource{row.FlavorResource()},
			want: text(row.Possibility, row.BorrowHeight), got: text(f.Possibility.String(), f.BorrowHeight),
			fits: c.fitsAlready(row.Amount), unasked: text(preemption.PossibilityNoCandidates.String(), c.heightNow(row.Amount)),
		})
	}
	for _, row := range c.Want.Quota.ClusterQueues {
		status, _ := s.QueueStatus(row.Name, row.FlavorResource)
		list = append(list, row.answer("clusterQueue", status, true))
	}
	for _, row := range c.Want.Quota.Cohorts {
		status, _ := s.CohortStatus(row.Name, row.FlavorResource)
		list = append(list, row.answer("cohort", status, false))
	}
	for _, row := range c.Want.Quota.Share {
		share, _ := s.QueueShare(row.Name)
		if row.Kind == "Cohort" {
			share, _ = s.CohortShare(row.Name)
		}
		got := ShareRow{row.Name, row.Kind, strconv.FormatFloat(share.Weighted(), 'g', -1, 64), share.DominantResource}
		list = append(list, answerRow{
			what: fmt.Sprintf("share of %s %q", row.Kind, row.Name), columns: c.columns(), want: []string{row.text()}, got: []string{got.text()},
		})
	}
	return list, nil
}

func (row ShareRow) text() string { return row.WeightedShare + " of " + row.DominantResource }

// fitsAlready is the predicate of AlreadyFits: by Kueue's own quota rows there is
// room for the amount.
func (c *Case) fitsAlready(a quota.Amount) bool {
	for _, row := range c.Want.Quota.ClusterQueues {
		if row.Name == c.Incoming.ClusterQueue && row.FlavorResource == a.FlavorResource() {
			return a.Amount <= row.Available
		}
	}
	return false
}

// columns lists all columns with quota.
func (c *Case) columns() (list []quota.FlavorResource) {
	for _, q := range c.ClusterQueues {
		for _, e := range q.Quotas {
			list = append(list, e.FlavorResource())
		}
	}
	return list
}

// excuse is a departure with the answer that it makes right. The zero value excuses nothing.
type excuse struct {
	departure string
	answer    []string
}

// compareUnless records a difference, or the departure that explains it: the answer is the one that
// the departure makes right.
func (r *Report) compareUnless(e excuse, what string, want, got []string) {
	switch {
	case slices.Equal(want, got):
	case e.departure != "" && slices.Equal(e.answer, got):
		if !slices.Contains(r.Departures, e.departure) {
			r.Departures = append(r.Departures, e.departure)
		}
	default:
		r.Differences = append(r.Differences, Difference{what, want, got})
	}
}

func (r *Report) compare(what string, want, got []string) { r.compareUnless(excuse{}, what, want, got) }

// answer returns the numbers of a node in the row's column.
func (row QuotaRow) answer(kind string, status []preemption.QuotaStatus, isQueue bool) answerRow {
	i := slices.IndexFunc(status, func(s preemption.QuotaStatus) bool { return s.FlavorResource == row.FlavorResource })
	got := QuotaRow{Name: row.Name, FlavorResource: row.FlavorResource}
	if i >= 0 {
		got.Usage, got.SubtreeQuota = orUnlimited(status[i].Usage), orUnlimited(status[i].SubtreeQuota)
		if isQueue {
			got.Available = max(0, orUnlimited(status[i].Available)) // as Kueue reports it
			got.PotentialAvailable = orUnlimited(status[i].PotentialAvailable)
		}
	}
	return answerRow{
		what: fmt.Sprintf("quota of %s %q in %v", kind, row.Name, row.FlavorResource), columns: []quota.FlavorResource{row.FlavorResource},
		want: []string{row.text()}, got: []string{got.text()},
	}
}

func (row QuotaRow) text() string {
	return fmt.Sprintf("usage %d, available %d, potential %d, subtree %d",
		row.Usage, row.Available, row.PotentialAvailable, row.SubtreeQuota)
}

func wantVictims(victims []Victim) []string {
	list := make([]string, len(victims))
	for i, v := range victims {
		list[i] = v.Name + " " + v.Reason
	}
	slices.Sort(list)
	return list
}

func gotVictims(victims []preemption.Victim) []string {
	list := make([]string, len(victims))
	for i, v := range victims {
		list[i] = v.Workload + " " + v.Reason.String()
	}
	slices.Sort(list)
	return list
}
