package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/cedesched/cede/examples/internal/kai"
	"github.com/cedesched/cede/examples/internal/kueue"
	"github.com/cedesched/cede/preemption"
)

//go:embed sample.json
var sample []byte

// The embedded sample is asked about this workload at this time.
const sampleWorkload = "vision/detector-train"

var sampleTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// input is a cluster and what may be asked about it.
type input struct {
	state    preemption.State
	kueue    kueue.Cluster       // the zero value for cede's own JSON
	request  *preemption.Request // of a Record
	isSample bool
}

// read reads the cluster: from the file; without one from what is piped; without
// anything the sample.
func read(file string, noArguments bool, piped io.Reader) (input, error) {
	name := file
	var source io.Reader
	switch {
	case file == "-" || file == "" && piped != nil:
		name = "standard input"
		if piped == nil {
			return input{}, errors.New("standard input is a terminal: pipe a cluster into it, or give -f FILE")
		}
		source = piped
	case file != "":
		f, err := os.Open(file)
		if err != nil {
			return input{}, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return input{}, fmt.Errorf("%s is a directory", file)
		}
		source = f
	default:
		return readSample()
	}
	buffered := bufio.NewReaderSize(source, peek)
	if _, err := buffered.Peek(1); errors.Is(err, io.EOF) {
		if noArguments { // as under a scheduler of jobs that gives no terminal
			return readSample()
		}
		return input{}, fmt.Errorf("%s is empty", name)
	}
	in, err := readCluster(buffered)
	if err != nil {
		return input{}, fmt.Errorf("%s: %w", name, err)
	}
	return in, nil
}

func readSample() (input, error) {
	in, err := readCluster(bufio.NewReader(bytes.NewReader(sample)))
	in.isSample = true
	return in, err
}

const (
	peek     = 1 << 16
	maxState = 2 << 30 // of cede's own JSON, which is read whole
)

func readCluster(r *bufio.Reader) (input, error) {
	if magic, _ := r.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return input{}, err
		}
		r = bufio.NewReaderSize(unzipped, peek)
	}
	start, _ := r.Peek(peek)
	switch key := firstKey(start); {
	case slices.Contains([]string{"cohorts", "queues", "admitted"}, key):
		data, err := readAll(r)
		if err != nil {
			return input{}, err
		}
		st, err := preemption.ParseState(data)
		return input{state: st}, err
	case key == "state" || key == "request":
		data, err := readAll(r)
		if err != nil {
			return input{}, err
		}
		record, err := preemption.ParseRecord(data)
		return input{state: record.State, request: record.Request}, err
	}
	read := kueue.Read
	if bytes.Contains(start, []byte(kai.Group+"/")) {
		read = kai.Read
	}
	c, err := read(r)
	return input{state: preemption.State{Cohorts: c.Cohorts, Queues: c.Queues, Admitted: c.Admitted}, kueue: c}, err
}

// firstKey is the first key of a JSON object; it tells cede's own JSON from
// Kubernetes objects.
func firstKey(start []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(start))
	if brace, err := decoder.Token(); err != nil || brace != json.Delim('{') {
		return ""
	}
	token, _ := decoder.Token()
	key, _ := token.(string)
	return key
}

func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxState+1))
	if err == nil && len(data) > maxState {
		err = fmt.Errorf("more than %d bytes", maxState)
	}
	return data, err
}
