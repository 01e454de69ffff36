package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each command of the README that starts the scheduler has flags that it knows.
func TestReadmeCommands(t *testing.T) {
	found := 0
	for _, line := range regexp.MustCompile(`(?m)^ +/tmp/kube-scheduler (.*)$`).FindAllStringSubmatch(strings.ReplaceAll(read(t, "README.md"), "\\\n", ""), -1) {
		found++
		if err := command().ParseFlags(strings.Fields(line[1])); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
	}
	if found == 0 {
		t.Error("the README starts no scheduler")
	}
}

// The sample, and the one in the manifest, are valid for the scheduler's own loader; the lease and the name
// are not those of the cluster's scheduler; and the roles name the lease.
func TestSampleAndManifest(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decode := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	kinds, file, lease := map[string]int{}, "", false
	for _, part := range strings.Split(read(t, "deploy.yaml"), "\n---\n") {
		object, kind, err := decode.Decode([]byte(part), nil, nil)
		if err != nil {
			t.Fatalf("%v:\n%s", err, part)
		}
		kinds[kind.Kind]++
		switch o := object.(type) {
		case *v1.ConfigMap:
			file = t.TempDir() + "/config.yaml"
			if err := os.WriteFile(file, []byte(o.Data["config.yaml"]), 0o600); err != nil {
				t.Fatal(err)
			}
		case *rbacv1.Role:
			for _, r := range o.Rules {
				lease = lease || len(r.ResourceNames) == 1 && r.ResourceNames[0] == "cede-scheduler"
			}
		case *appsv1.Deployment:
			if err := command().ParseFlags(o.Spec.Template.Spec.Containers[0].Args); err != nil {
				t.Error(err)
			}
		}
	}
	if kinds["Deployment"] != 1 || file == "" || !lease {
		t.Errorf("%v, a configuration: %v, a role for the lease: %v", kinds, file != "", lease)
	}
	for _, file := range []string{"config.yaml", file} {
		c, err := options.LoadConfigFromFile(klog.Background(), file)
		if err != nil {
			t.Fatal(err)
		}
		if err := validation.ValidateKubeSchedulerConfiguration(c); err != nil {
			t.Error(err)
		}
		if c.Profiles[0].SchedulerName != "cede-scheduler" || c.LeaderElection.ResourceName != "cede-scheduler" || c.LeaderElection.ResourceNamespace != "kube-system" {
			t.Errorf("%s: scheduler %q, lease %q in %q", file, c.Profiles[0].SchedulerName, c.LeaderElection.ResourceName, c.LeaderElection.ResourceNamespace)
		}
	}
}

func TestVersion(t *testing.T) {
	c, out := command(), new(bytes.Buffer)
	c.SetOut(out)
	c.SetArgs([]string{"--version"})
	t.Cleanup(func() { // the flag is one of the process
		flag := c.Flags().Lookup("version")
		flag.Changed = false
		if err := flag.Value.Set("false"); err != nil {
			t.Error(err)
		}
	})
	if err := c.Execute(); err != nil || !regexp.MustCompile(`^kube-scheduler \S+ with cede \S*\n$`).MatchString(out.String()) {
		t.Errorf("%q, %v", out, err)
	}
}

// Flags of which one has no effect are refused.
func TestKubeconfigBesideConfig(t *testing.T) {
	c := command()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--config", "config.yaml", "--kubeconfig", "x"})
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "clientConnection") {
		t.Error(err)
	}
}
