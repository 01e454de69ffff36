package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// pod is a pod of a trace. GPU and CPU are in thousandths, memory is in MiB, times are in seconds.
type pod struct {
	id               string
	gpu, cpu, memory int64
	priority         int32
	arrives, runs    int64
}

const largeGPU = 4000

// priorities of the classes of service, as Koordinator has them.
var priorities = map[string]int32{"BE": 5500, "Burstable": 7500, "LS": 9500, "Guaranteed": 9999}

// read reads the pods of a trace that were scheduled and want GPUs. It names all rows that cannot be read, at most ten.
func read(from io.Reader) ([]pod, error) {
	buffered := bufio.NewReader(from)
	from = buffered
	if magic, _ := buffered.Peek(2); string(magic) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		from = unzipped
	}
	rows := csv.NewReader(from)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	column := map[string]int{}
	for i, name := range header {
		column[name] = i
	}
	var faults []error
	for _, name := range []string{"name", "num_gpu", "gpu_milli", "cpu_milli", "memory_mib", "qos", "creation_time", "scheduled_time", "deletion_time"} {
		if _, known := column[name]; !known {
			faults = append(faults, fmt.Errorf("no column %q", name))
		}
	}
	if len(faults) > 0 {
		return nil, joined(faults)
	}
	var pods []pod
	for line := 2; len(faults) < 10; line++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			faults = append(faults, err)
			break
		}
		number := func(name string) int64 {
			v, err := strconv.ParseInt(row[column[name]], 10, 64)
			if err != nil || v < 0 || v > 1<<40 {
				faults = append(faults, fmt.Errorf("line %d: %s %q: want a whole number", line, name, row[column[name]]))
			}
			return v
		}
		if row[column["scheduled_time"]] == "" || row[column["num_gpu"]] == "0" {
			continue
		}
		p := pod{id: row[column["name"]], gpu: number("num_gpu") * number("gpu_milli"), cpu: number("cpu_milli"), memory: number("memory_mib")}
		priority, known := priorities[row[column["qos"]]]
		if !known {
			faults = append(faults, fmt.Errorf("line %d: qos %q is unknown", line, row[column["qos"]]))
		}
		p.priority, p.arrives = priority, number("creation_time")
		p.runs = max(1, number("deletion_time")-number("scheduled_time"))
		pods = append(pods, p)
	}
	if len(faults) == 0 && len(pods) == 0 {
		faults = append(faults, errors.New("no pod wants GPUs and was scheduled"))
	}
	if len(faults) > 0 {
		return nil, joined(faults)
	}
	return recent(pods), nil
}

// joined makes one line of faults.
func joined(faults []error) error {
	texts := make([]string, len(faults))
	for i, err := range faults {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// month is how long pods arrive.
const month = 35 * 24 * 3600

// recent keeps the pods of the last month: a few that came long before run all the time.
func recent(pods []pod) (list []pod) {
	var last int64
	for i := range pods {
		last = max(last, pods[i].arrives)
	}
	for _, p := range pods {
		if p.arrives >= last-month {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b pod) int { return cmp.Or(cmp.Compare(a.arrives, b.arrives), cmp.Compare(a.id, b.id)) })
	for i := len(list) - 1; i >= 0; i-- {
		list[i].arrives -= list[0].arrives
	}
	return list
}

// drawn draws a month of pods: most want a part of a GPU, one of 60 wants four or eight; half of them run for less than
// 13 minutes, a few for days.
func drawn(seed uint64) []pod {
	random := rand.New(rand.NewPCG(seed, 0))
	const count = 6000
	pods := make([]pod, count)
	for i := range pods {
		p := &pods[i]
		p.id, p.arrives = fmt.Sprintf("pod-%05d", i), random.Int64N(month)
		switch n := random.IntN(120); {
		case n < 1:
			p.gpu = 4000
		case n < 2:
			p.gpu = 8000
		case n < 40:
			p.gpu = 1000
		default:
			p.gpu = 100 + 50*random.Int64N(15)
		}
		p.cpu, p.memory = 8*p.gpu, 16*p.gpu/1000*1024/4
		p.runs = int64(800 * math.Exp(1.9*random.NormFloat64()))
		if p.gpu >= largeGPU {
			p.runs *= 20
		}
		p.runs = min(p.runs, 14*24*3600) + 1
		p.priority = []int32{5500, 5500, 9500, 9500, 9500, 7500}[random.IntN(6)]
	}
	return recent(pods)
}
