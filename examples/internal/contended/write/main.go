// Write prints the objects of a contended cluster, for the programs that read one:
//
//	go run ./examples/internal/contended/write -running 20000 -waiting 10000 > contended.json
//	whatif overview -f contended.json -at 2026-11-20T12:00:00Z
package main

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/cedesched/cede/examples/internal/contended"
)

func main() {
	var w contended.World
	flag.IntVar(&w.Queues, "queues", 200, "the number of queues")
	flag.IntVar(&w.Running, "running", 4000, "the number of workloads that run")
	flag.IntVar(&w.Waiting, "waiting", 1000, "the number of workloads that wait")
	flag.Uint64Var(&w.Seed, "seed", 1, "the seed of what is drawn")
	shape := flag.String("shape", contended.Shapes[0], "one of "+strings.Join(contended.Shapes, ", "))
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	var err error
	if w.Shape, err = contended.ShapeOf(*shape); err == nil {
		err = cmp.Or(w.Write(out), out.Flush())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
