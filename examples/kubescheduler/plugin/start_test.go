package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// start begins the first profile of a configuration as the scheduler does.
func start(t *testing.T, file string) error {
	t.Helper()
	settings, err := options.LoadConfigFromFile(klog.Background(), file)
	if err != nil {
		return err
	}
	if err := validation.ValidateKubeSchedulerConfiguration(settings); err != nil {
		return err
	}
	metrics.Register()
	profile := &settings.Profiles[0]
	on := &profile.Plugins.MultiPoint // claims of devices need an API server
	on.Disabled = append(on.Disabled, config.Plugin{Name: names.DynamicResources})
	var left []config.Plugin
	for _, p := range on.Enabled {
		if p.Name != names.DynamicResources {
			left = append(left, p)
		}
	}
	on.Enabled = left
	registry := plugins.NewInTreeRegistry()
	if err := registry.Register(Name, New); err != nil {
		return err
	}
	f, err := frameworkruntime.NewFramework(t.Context(), registry, profile,
		frameworkruntime.WithClientSet(fake.NewClientset()), frameworkruntime.WithEventRecorder(&events.FakeRecorder{}),
		frameworkruntime.WithInformerFactory(informers.NewSharedInformerFactory(fake.NewClientset(), 0)), frameworkruntime.WithPodNominator(nominator{}),
		frameworkruntime.WithSnapshotSharedLister(&lister{cache.NewEmptySnapshot()}),
		frameworkruntime.WithMutableSnapshotLister(&lister{cache.NewEmptySnapshot()}),
		frameworkruntime.WithPodGroupManager(cache.New(t.Context(), nil, true, true)),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()))
	if err != nil {
		return err
	}
	for _, e := range f.EnqueueExtensions() {
		if _, err := e.EventsToRegister(t.Context()); err != nil {
			return err
		}
	}
	return nil
}

// The sample starts. What would have no effect is refused when the scheduler starts, with the reason.
func TestStart(t *testing.T) {
	sample, err := os.ReadFile("../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const disabled = "      disabled:\n      - name: DefaultPreemption\n"
	if !strings.Contains(string(sample), disabled) {
		t.Fatalf("config.yaml is not as expected:\n%s", sample)
	}
	const args = "  pluginConfig:\n  - name: Cede\n    args: "
	both := strings.Replace(string(sample), disabled, "", 1)
	const groupsToo = "    podGroupPostFilter:\n" + disabled
	for _, c := range []struct {
		name, text string
		groups     bool
		want       []string
	}{
		{"the sample", string(sample), true, nil},
		{"an empty argument", string(sample) + args + "{}\n", false, nil},
		{"arguments", string(sample) + args + "{mode: Design, minRuntime: 10m, budgets: Hard}\n", false, nil},
		{"unknown arguments", string(sample) + args + "{minCandidateNodesPercentage: 10, Mode: Design}\n", false,
			[]string{"pluginConfig of Cede: args: unknown field", `"minCandidateNodesPercentage"`, `"Mode"`}},
		{"DefaultPreemption is left enabled", both, true, []string{
			"DefaultPreemption is enabled before Cede and decides in its place: disable it, at multiPoint or at postFilter",
			"DefaultPreemption is enabled before Cede and decides in its place: disable it, at multiPoint or at podGroupPostFilter"}},
		{"DefaultPreemption is disabled where it would decide", both + "    postFilter:\n" + disabled, false, nil},
		{"DefaultPreemption decides about groups", both + "    postFilter:\n" + disabled, true, []string{"at podGroupPostFilter"}},
		{"DefaultPreemption is disabled where it would decide, with groups", both + "    postFilter:\n" + disabled + groupsToo, true, nil},
		{"no plugin decides about groups", string(sample) + "    podGroupPostFilter:\n      disabled: [{name: '*'}]\n", true,
			[]string{"no plugin is enabled at podGroupPostFilter, so no pod group preempts"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.groups {
				withGroups(t)
			}
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := start(t, file)
			if len(c.want) == 0 && err != nil {
				t.Error(err)
			}
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
			}
		})
	}
}
