package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// formVersion is the version of the form of -o json and -o steps.
const formVersion = 1

// report is what -o json prints in one line, to compare with later ones.
type report struct {
	Version int `json:"version"`
	// Commit is what was measured. Empty: not known.
	Commit string `json:"commit,omitempty"`
	// Machine is where. Nil: the rows hold only what is the same on every machine (-o steps).
	Machine *machine `json:"machine,omitempty"`
	Rows    []row    `json:"rows"`
}

type machine struct {
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu,omitempty"` // empty: not known
	Processors int    `json:"processors"`
}

// printReport prints a report in one line.
func printReport(w io.Writer, rows []row) error {
	r := report{Version: formVersion, Commit: builtFrom(), Rows: rows}
	r.Machine = &machine{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: processor(), Processors: runtime.GOMAXPROCS(0)}
	return json.NewEncoder(w).Encode(r)
}

// stepsOnly is a row of -o steps.
type stepsOnly struct {
	Name   string `json:"name"`
	Steps  int    `json:"steps"`
	Allocs int64  `json:"allocs_op"`
	Blocks int64  `json:"blocks,omitempty"`
}

// printSteps prints what is the same on every machine, a row in a line, to be kept beside the code.
func printSteps(w io.Writer, rows []row) error {
	_, err := fmt.Fprintf(w, "{\"version\":%d,\"rows\":[\n", formVersion)
	for i, r := range rows {
		line, _ := json.Marshal(stepsOnly{r.Name, r.Steps, r.Allocs, r.Blocks}) // of texts and numbers
		end := ","
		if i == len(rows)-1 {
			end = "]}"
		}
		_, err = fmt.Fprintf(w, "%s%s\n", line, end)
	}
	return err
}

// builtFrom is the commit that the program was built from; empty: not known.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	for i := 0; ok && i < len(info.Settings); i++ {
		if s := info.Settings[i]; s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// processor is the name of the processor. Empty: not known.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		if key, name, ok := strings.Cut(in.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// parseReport reads a report.
func parseReport(data []byte) (r report, err error) {
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	switch {
	case r.Version != formVersion:
		return r, fmt.Errorf("version %d: want %d", r.Version, formVersion)
	case len(r.Rows) == 0:
		return r, errors.New("it has no rows")
	}
	for i := range r.Rows {
		if r.Rows[i].Name == "" {
			return r, fmt.Errorf("rows[%d].name is empty", i)
		}
	}
	return r, nil
}
