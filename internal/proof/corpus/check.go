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
	s, err := preemption.NewSnapshot(c.State())
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	var r Report
	d, err := p.Decide(s, c.Request())
	if err != nil {
		return Report{}, fmt.Errorf("case %q: %w", c.Name, err)
	}
	fits := true
	incoming := c.Request().Workload
	for _, a := range incoming.Usage() {
		fits = fits && c.fitsAlready(a)
	}
	var columns []quota.FlavorResource
	for _, a := range incoming.Usage() {
		columns = append(columns, a.FlavorResource())
	}
	r.compareUnless(departure(fits && d.Outcome == preemption.Fits, c.unlimitedLends(columns...)), "victims", wantVictims(c.Want.Victims), gotVictims(d.Victims))
	for _, row := range c.Want.Oracle {
		asked := c.Request()
		asked.Workload.NeverPreempts = false // Kueue's oracle asks what preemption could do
		f, err := p.Forecast(s, asked, row.Amount)
		if err != nil {
			return Report{}, fmt.Errorf("case %q: oracle %v: %w", c.Name, row.FlavorResource(), err)
		}
		alreadyFits := c.fitsAlready(row.Amount) && f.Possibility == preemption.PossibilityNoCandidates
		r.compareUnless(departure(alreadyFits, c.unlimitedLends(row.FlavorResource())), fmt.Sprintf("oracle %v", row.FlavorResource()),
			[]string{fmt.Sprintf("%s, borrow height %d", row.Possibility, row.BorrowHeight)},
			[]string{fmt.Sprintf("%v, borrow height %d", f.Possibility, f.BorrowHeight)})
	}
	for _, row := range c.Want.Quota.ClusterQueues {
		status, _ := s.QueueStatus(row.Name, row.FlavorResource)
		r.compareQuota(c, "clusterQueue", row, status, true)
	}
	for _, row := range c.Want.Quota.Cohorts {
		status, _ := s.CohortStatus(row.Name, row.FlavorResource)
		r.compareQuota(c, "cohort", row, status, false)
	}
	for _, row := range c.Want.Quota.Share {
		share, _ := s.QueueShare(row.Name)
		if row.Kind == "Cohort" {
			share, _ = s.CohortShare(row.Name)
		}
		got := ShareRow{row.Name, row.Kind, strconv.FormatFloat(share.Weighted(), 'g', -1, 64), share.DominantResource}
		r.compareUnless(departure(false, c.unlimitedLends(c.columns()...)), fmt.Sprintf("share of %s %q", row.Kind, row.Name), []string{row.text()}, []string{got.text()})
	}
	return r, nil
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

// departure returns the departure that explains a difference; empty: none.
func departure(alreadyFits, unlimitedLends bool) string {
	switch {
	case alreadyFits:
		return AlreadyFits
	case unlimitedLends:
		return UnlimitedLends
	}
	return ""
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

// compareUnless records a difference, or the departure that explains it.
func (r *Report) compareUnless(departure, what string, want, got []string) {
	switch {
	case slices.Equal(want, got):
	case departure != "":
		if !slices.Contains(r.Departures, departure) {
			r.Departures = append(r.Departures, departure)
		}
	default:
		r.Differences = append(r.Differences, Difference{what, want, got})
	}
}

func (r *Report) compareQuota(c *Case, kind string, row QuotaRow, status []preemption.QuotaStatus, isQueue bool) {
	i := slices.IndexFunc(status, func(s preemption.QuotaStatus) bool { return s.FlavorResource == row.FlavorResource })
	got := QuotaRow{Name: row.Name, FlavorResource: row.FlavorResource}
	if i >= 0 {
		got.Usage, got.SubtreeQuota = status[i].Usage, status[i].SubtreeQuota
		if isQueue {
			got.Available = max(0, status[i].Available) // as Kueue reports it
			got.PotentialAvailable = status[i].PotentialAvailable
		}
	}
	r.compareUnless(departure(false, c.unlimitedLends(row.FlavorResource)), fmt.Sprintf("quota of %s %q in %v", kind, row.Name, row.FlavorResource), []string{row.text()}, []string{got.text()})
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
