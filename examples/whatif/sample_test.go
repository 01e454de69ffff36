package main

import (
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/internal/answers"
)

// Each embedded sample can be asked; that of troubles is one in which lint finds some, that of rules one in which rules decide.
func TestSamples(t *testing.T) {
	for _, name := range answers.Samples {
		if status, stdout, stderr := call(nil, "overview", "-sample", name); status > 1 || stderr != "" || !strings.Contains(stdout, "This is an embedded sample.") {
			t.Errorf("%s: status %d, %q:\n%s", name, status, stderr, stdout)
		}
	}
	for want, args := range map[string][]string{
		"lending: a lending limit is more than there is to lend": {"lint", "-sample", "trouble"},
		"fits once ":         {"ask", "-sample", "rules", "-workload", "prod/hero"},
		"prod/hero":          {"diff", "-sample", "rules", "-rule", "hero:others-yield=off"},
		`want cluster, trou`: {"ask", "-sample", "large"},
		"without -f":         {"ask", "-sample", "rules", "-f", "x"},
	} {
		status, stdout, stderr := call(nil, args...)
		if !strings.Contains(stdout+stderr, want) || (status == 2) != strings.HasPrefix(want, "w") {
			t.Errorf("%q: status %d, %q, %s", args, status, stderr, stdout)
		}
	}
}
