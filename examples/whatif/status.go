package main

import (
	"github.com/cedesched/cede/examples/internal/answers"
	"github.com/cedesched/cede/examples/internal/cli"
	"github.com/cedesched/cede/preemption"
)

// statusOf is the exit status for an outcome: yes is what a scheduler carries out, at once or by preemption.
func statusOf(outcome string) int {
	switch outcome {
	case answers.Runs, preemption.Fits.String(), preemption.Preempt.String():
		return cli.StatusYes
	case answers.Unknown:
		return cli.StatusUnknown
	}
	return cli.StatusNo
}

// statusOfAll is the exit status where every answer must be yes: one no is a no, whatever is unknown besides.
func statusOfAll(rows []overviewRow) int {
	status := cli.StatusYes
	for i := range rows {
		switch statusOf(rows[i].Outcome) {
		case cli.StatusNo:
			return cli.StatusNo
		case cli.StatusUnknown:
			status = cli.StatusUnknown
		}
	}
	return status
}
