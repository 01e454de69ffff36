// Beam replays a sweep on Apache Beam: on all cores of this machine, or on a cluster of Flink, Spark or Dataflow.
//
//	beam -dir DIR [-world NAME,...] [-policy NAME,...] [-seeds 1-5] [-quotas FILE] [flags of Beam]
//
// The result of each cell is a file DIR/ID.jsonl as soon as it is there, and the same command goes on with a sweep that was
// broken off. At last DIR/results.jsonl has all results; replay -results makes the table of it. DIR may be a gs:// URL. Workers on
// other machines must see traces, quotas and rules under the same paths.
//
// Exit status: 0 once all results are written, also of cells that circle; 2 for bad usage or input, or if the runner gives up.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/cedesched/cede/examples/replay/internal/sweep"
)

var (
	directory = flag.String("dir", "", "write results into this `DIRECTORY`, and take those that are there")
	worlds    = flag.String("world", "philly-vc+days=15+capacity=60", "replay these `WORLDS`, as replay does")
	policies  = flag.String("policy", "greedy,best+checkpoint+fewest", "compare these `POLICIES`, as replay does")
	seeds     = flag.String("seeds", "1", "draw each world with these `SEEDS`, as in 1-5")
	quotas    = flag.String("quotas", "", "the quotas of records: a `FILE`")
	cluster   = flag.String("cluster", "", "the queues of records: a `FILE` with objects of Kueue")
	qos       = flag.String("qos", "", "who may preempt whom in records of Slurm: a `FILE` of sacctmgr show qos")
)

func main() {
	flag.Parse()
	beam.Init() // a worker stays here
	if err := run(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "beam: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(2)
	}
}

// run runs the sweep that the flags describe.
func run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *directory == "" {
		return fmt.Errorf("-dir: name a directory for the results")
	}
	list, err := sweep.ParseSeeds(*seeds)
	if err != nil {
		return err
	}
	in := sweep.Input{Worlds: strings.Split(*worlds, ","), Policies: strings.Split(*policies, ","), Seeds: list, Quotas: *quotas, Cluster: *cluster, QOS: *qos}
	s, err := sweep.New(in)
	if err != nil {
		return err
	}
	beamlog.SetLogger(quiet{})
	pipeline, scope := beam.NewPipelineWithRoot()
	build(scope, in, len(s.Cells), *directory)
	result, err := beamx.RunWithMetrics(ctx, pipeline)
	if err != nil {
		return err
	}
	fmt.Printf("%d cells: %s\nThe table: go run ./examples/replay -results %s\n", len(s.Cells), counts(result), at(*directory, "results"))
	return nil
}

// counts says how many cells were replayed and known, if the runner tells.
func counts(result beam.PipelineResult) string {
	replayed, known := int64(0), int64(0)
	if result != nil {
		for _, c := range result.Metrics().AllMetrics().Counters() {
			switch c.Key.Name {
			case "replayed":
				replayed += c.Result()
			case "known":
				known += c.Result()
			}
		}
	}
	return fmt.Sprintf("%d replayed, %d known before", replayed, known)
}

// quiet logs warnings and errors alone.
type quiet struct{}

// Log implements the logger of Beam.
func (quiet) Log(_ context.Context, severity beamlog.Severity, _ int, message string) {
	if severity >= beamlog.SevWarn {
		fmt.Fprintln(os.Stderr, "beam:", message)
	}
}
