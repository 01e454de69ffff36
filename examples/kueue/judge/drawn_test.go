package judge_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedesched/cede/examples/kueue/judge"
)

var (
	drawnClusters = flag.Int("drawn", 100, "how many drawn clusters Kueue judges")
	drawnSeed     = flag.Uint64("drawn-seed", 1, "the first of their seeds")
)

// In drawn clusters with odd objects whatif says what Kueue says, or that it does not know.
func TestDrawnClustersAreAnsweredAsByKueue(t *testing.T) {
	clusters := *drawnClusters
	if testing.Short() {
		clusters = min(clusters, 30)
	}
	c, unknown, undecided := counted{}, named{}, named{}
	verdicts := map[judge.Verdict]int{}
	for seed := *drawnSeed; seed < *drawnSeed+uint64(clusters); seed++ {
		objects, ids := drawCluster(rand.New(rand.NewPCG(seed, 83)))
		for _, id := range ids {
			var a light
			var refused string
			asked := make(chan bool)
			go func() { // beside Kueue
				defer close(asked)
				a, refused = whatif(t, objects, id, at)
			}()
			k, err := judge.Ask(t.Context(), objects, id, at)
			<-asked
			if err != nil {
				t.Errorf("seed %d, %s: %v", seed, id, err)
				continue
			}
			known := c.alike
			c.hold(t, fmt.Sprint("seed ", seed), "drawn", id, &a, refused, &k)
			if c.alike > known {
				verdicts[k.Verdict]++
			} else if k.Verdict == judge.Unknown {
				undecided.add(k.Message)
			} else if a.Verdict.Outcome == "Unknown" {
				unknown.add(a.Verdict.Why)
			}
		}
	}
	c.log(t)
	unknown.log(t, c.unknown, "unknown")
	undecided.log(t, c.undecided, "not decided by Kueue either")
	t.Log(verdicts)
	if clusters < 100 {
		return
	}
	if yes, no := verdicts[judge.Fits], verdicts[judge.No]; 3*c.alike < c.asked-c.undecided || yes < clusters/8 || verdicts[judge.Preempts] < clusters/20 || no < clusters/15 {
		t.Errorf("too little is decided: %d of %d asked, %v", c.alike, c.asked, verdicts)
	}
}

// named counts what is named as unknown: the kind of the object, and the field.
type named map[string]int

// What differs from cluster to cluster in a sentence: the names of objects, and numbers.
var (
	drawnNames   = regexp.MustCompile(`\b[a-z][a-z0-9]*(?:[-/.][a-z0-9]+)*-[0-9a-f]{5}\b|"[^"]*"`)
	drawnNumbers = regexp.MustCompile(`[0-9]+`)
)

func (n named) add(why string) {
	n[drawnNumbers.ReplaceAllString(drawnNames.ReplaceAllString(why, "…"), "N")]++
}

// log prints the share of each, most frequent first.
func (n named) log(t *testing.T, of int, what string) {
	t.Helper()
	for _, why := range slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(n[b]-n[a], strings.Compare(a, b)) }) {
		t.Logf("%3d%% of what is %s (%d): %s", 100*n[why]/of, what, n[why], why)
	}
}

// object is a part of an object of Kubernetes.
type object = map[string]any

// drawing is a cluster that is drawn.
type drawing struct {
	*rand.Rand
	configured bool // there is a Configuration
	items      []object
	flavors    []string // by name; those of gpus begin with gpu
	cohorts    []string
	queues     []*drawnQueue
	waits      []string // by namespace/name
}

// drawnQueue is a ClusterQueue and what leads to it.
type drawnQueue struct {
	name   string
	cohort string
	groups []drawnGroup
	checks []string
	locals [][2]string       // namespace and name
	room   map[[2]string]int // by flavor and resource: what is not used of the nominal quota
}

// drawnGroup is a group of resources: of each flavor there is some of each.
type drawnGroup struct{ resources, flavors []string }

// drawCluster draws a cluster, and says which of the workloads that wait to ask about.
func drawCluster(r *rand.Rand) (objects []byte, ids []string) {
	d := &drawing{Rand: r}
	d.drawConfiguration()
	d.drawNamespaces()
	d.drawFlavors()
	d.drawCohorts()
	for i := range 3 + d.IntN(4)*d.IntN(10) {
		d.drawQueue(i)
	}
	for range 8 + d.IntN(8*len(d.queues)) {
		d.drawRunning()
	}
	for range 2 + d.IntN(3) {
		d.drawWaiting()
	}
	d.drawOddities()
	objects, _ = json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": d.items}) // maps and strings
	d.Shuffle(len(d.waits), func(i, j int) { d.waits[i], d.waits[j] = d.waits[j], d.waits[i] })
	return objects, d.waits[:min(1+d.IntN(2), len(d.waits))]
}

func (d *drawing) pick(list ...string) string { return list[d.IntN(len(list))] }

// one reports true once in so many times.
func (d *drawing) one(in int) bool { return d.IntN(in) == 0 }

// named is a long name with a hash, as users and controllers make them.
func (d *drawing) named(parts ...string) string {
	return fmt.Sprintf("%s-%05x", strings.Join(parts, "-"), d.IntN(1<<20))
}

const kueueGroup = "kueue.x-k8s.io/"

// version is one of those of Kueue's API, and whether it is the old one.
func (d *drawing) version() (apiVersion string, old bool) {
	if d.one(4) {
		return kueueGroup + "v1beta1", true
	}
	return kueueGroup + "v1beta2", false
}

func (d *drawing) add(apiVersion, kind string, metadata, more object) object {
	if metadata["uid"] == nil {
		metadata["uid"] = fmt.Sprintf("5d0c%04x-7b1e-4f0a-9c3d-%012x", len(d.items), d.Int64N(1<<48))
	}
	if metadata["creationTimestamp"] == nil {
		metadata["creationTimestamp"] = "2026-11-20T08:00:00Z"
	}
	more["apiVersion"], more["kind"], more["metadata"] = apiVersion, kind, metadata
	d.items = append(d.items, more)
	return more
}

// drawOddities makes an object odd, or leaves out one that another names.
func (d *drawing) drawOddities() {
	gone := ""
	switch d.IntN(40) {
	case 0:
		gone = "ResourceFlavor"
	case 1:
		gone = "LocalQueue"
	case 2:
		gone = "AdmissionCheck"
	case 3:
		gone = "Topology"
	case 4:
		gone = "Namespace"
	case 5:
		gone = "ClusterQueue"
	case 6:
		gone = "Cohort"
	}
	if at := slices.IndexFunc(d.items, func(o object) bool { return o["kind"] == gone }); at >= 0 {
		d.items = slices.Delete(d.items, at, at+1)
	}
	for range d.IntN(4) {
		o := d.items[d.IntN(len(d.items))]
		metadata, _ := o["metadata"].(object)
		spec, _ := o["spec"].(object)
		switch d.IntN(60) {
		case 0:
			o["apiVersion"] = d.pick("", kueueGroup+"v2", "example.com/v1")
		case 1, 2, 3:
			if metadata != nil {
				metadata["fieldOfTomorrow"] = "x"
			}
		case 4:
			if spec != nil {
				spec["fieldOfTomorrow"] = true
			}
		case 5, 6:
			o["status"] = d.oddStatus(o)
		case 7, 8, 13, 14, 15:
			if metadata != nil {
				metadata["annotations"] = object{d.pick("example.com/owner", "kueue.x-k8s.io/of-tomorrow", "kubectl.kubernetes.io/last-applied-configuration"): "{}"}
			}
		case 9, 16, 17, 18, 19:
			d.items = append(d.items, object{"apiVersion": "example.com/v1", "kind": d.pick("Robot", "Workload", "ClusterQueue"), "metadata": object{"name": "odd"}, "spec": object{"count": 1}})
		case 10:
			o["spec"] = "nothing"
		case 11, 12, 20, 21, 22, 23, 24, 25:
			for _, p := range podSpecs(o) {
				p[d.pick("fieldOfTomorrow", "hostnameOverride")] = "x"
			}
		}
	}
	if d.one(2) {
		d.Shuffle(len(d.items), func(i, j int) { d.items[i], d.items[j] = d.items[j], d.items[i] })
	}
}

// oddStatus is that of the object with a field more.
func (d *drawing) oddStatus(o object) object {
	status, _ := o["status"].(object)
	if status = maps.Clone(status); status == nil {
		status = object{}
	}
	status["fieldOfTomorrow"] = "x"
	return status
}

// podSpecs are those of the templates of a workload.
func podSpecs(o object) (list []object) {
	spec, _ := o["spec"].(object)
	sets, _ := spec["podSets"].([]object)
	for _, s := range sets {
		list = append(list, s["template"].(object)["spec"].(object))
	}
	return list
}
