package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cedesched/cede/examples/internal/input"
	"github.com/cedesched/cede/examples/internal/workers"
)

// files begins the text of several files: a line of JSON, after which the files stand one after the other.
type files struct {
	Now   time.Time `json:"now"`
	Files []struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	} `json:"files"`
}

// Clusters answers about a manager of MultiKueue and its workers, of which each is a file: the manager's is the one that has the
// objects of MultiKueue, and the others have the names of their workers. It returns JSON.
func Clusters(r io.Reader) ([]byte, error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxDocument), 1<<16)
	line, err := in.ReadBytes('\n')
	var of files
	if err == nil {
		err = json.Unmarshal(line, &of)
	}
	if err != nil {
		return nil, err
	}
	var members []*workers.Member
	manager := ""
	for _, f := range of.Files {
		text, err := io.ReadAll(io.LimitReader(in, f.Size))
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(title(f.Name), ".")
		m, err := workers.Read(name, []input.Source{{Name: f.Name, Reader: bytes.NewReader(text)}}, of.Now)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", f.Name, strings.TrimPrefix(err.Error(), f.Name+": "))
		}
		if found := m.Cluster.MultiKueue(); len(found.Checks)+len(found.Workers)+len(found.Unreached) > 0 {
			if manager != "" {
				return nil, fmt.Errorf("%s and %s both have objects of MultiKueue: one of them must be the manager's", manager, f.Name)
			}
			m.Name, manager = "", f.Name
		}
		members = append(members, m)
	}
	if manager == "" {
		return nil, errors.New("none of the files has a MultiKueueCluster or a MultiKueueConfig: one of them must be the manager's")
	}
	fleet, err := workers.NewFleet(members)
	if err != nil {
		return nil, err
	}
	out, err := fleet.Answers(workers.Asked{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}
