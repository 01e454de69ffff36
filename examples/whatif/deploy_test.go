package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/cedesched/cede/examples/internal/cli"
)

// deployed are the objects of a file for kubectl apply, each read strictly as what it says it is.
type deployed struct {
	namespaces   []core1.Namespace
	accounts     []core1.ServiceAccount
	maps         []core1.ConfigMap
	services     []core1.Service
	deployments  []apps.Deployment
	policies     []networking.NetworkPolicy
	clusterRoles []rbac.ClusterRole
	roles        []rbac.Role
	bindings     []rbac.ClusterRoleBinding
	inNamespaces []rbac.RoleBinding
}

func decodeDeployed(t *testing.T, file string) (d deployed) {
	t.Helper()
	names := map[string]bool{}
	for i, text := range bytes.Split(must(os.ReadFile(file))(t), []byte("\n---\n")) {
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal(text, &head); err != nil {
			t.Fatal(err)
		}
		name := head.Kind + " " + head.Metadata.Namespace + "/" + head.Metadata.Name
		if names[name] || head.Metadata.Name == "" {
			t.Errorf("%s: object %d: %s is there twice, or has no name", file, i, name)
		}
		names[name] = true
		var err error
		switch head.APIVersion + " " + head.Kind {
		case "v1 Namespace":
			err = one(text, &d.namespaces)
		case "v1 ServiceAccount":
			err = one(text, &d.accounts)
		case "v1 ConfigMap":
			err = one(text, &d.maps)
		case "v1 Service":
			err = one(text, &d.services)
		case "apps/v1 Deployment":
			err = one(text, &d.deployments)
		case "networking.k8s.io/v1 NetworkPolicy":
			err = one(text, &d.policies)
		case "rbac.authorization.k8s.io/v1 ClusterRole":
			err = one(text, &d.clusterRoles)
		case "rbac.authorization.k8s.io/v1 Role":
			err = one(text, &d.roles)
		case "rbac.authorization.k8s.io/v1 ClusterRoleBinding":
			err = one(text, &d.bindings)
		case "rbac.authorization.k8s.io/v1 RoleBinding":
			err = one(text, &d.inNamespaces)
		default:
			err = fmt.Errorf("%s %s: nobody knows it", head.APIVersion, head.Kind)
		}
		if err != nil {
			t.Errorf("%s: %s: %v", file, name, err)
		}
	}
	return d
}

func one[T any](text []byte, into *[]T) error {
	var v T
	err := yaml.UnmarshalStrict(text, &v)
	*into = append(*into, v)
	return err
}

// rules are the rights of a service account in a namespace; of system roles, those that their names say, there are none.
func (d *deployed) rules(account, namespace string) (list []rbac.PolicyRule) {
	of := func(subjects []rbac.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbac.Subject) bool { return s.Kind == "ServiceAccount" && s.Name == account })
	}
	for _, b := range d.bindings {
		for _, r := range d.clusterRoles {
			if of(b.Subjects) && b.RoleRef.Name == r.Name && b.RoleRef.Kind == "ClusterRole" {
				list = append(list, r.Rules...)
			}
		}
	}
	for _, b := range d.inNamespaces {
		for _, r := range d.roles {
			if of(b.Subjects) && b.Namespace == namespace && r.Namespace == namespace && b.RoleRef.Name == r.Name && b.RoleRef.Kind == "Role" {
				list = append(list, r.Rules...)
			}
		}
	}
	return list
}

func permits(rules []rbac.PolicyRule, group string, r *resource, verb string) bool {
	return slices.ContainsFunc(rules, func(rule rbac.PolicyRule) bool {
		return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, r.name) && slices.Contains(rule.Verbs, verb) &&
			(len(rule.ResourceNames) == 0 || r.only != "" && slices.Contains(rule.ResourceNames, r.only))
	})
}

// In the cluster, serve may list all that it reads and watch all that it follows; and no right is more than that.
func TestDeployedRights(t *testing.T) {
	d := decodeDeployed(t, "deploy/serve.yaml")
	type right struct{ group, resource, verb string }
	needed := map[right]bool{}
	for verb, lists := range map[string][][]resource{"list": {followed, placed, ofNodes, listedOfKAI}, "watch": {followed, placed}} {
		for _, r := range slices.Concat(lists...) {
			for _, v := range r.versions {
				needed[right{v.Group, r.name, verb}] = true
				if !permits(d.rules("cede", r.in), v.Group, &r, verb) {
					t.Errorf("no right to %s %s", verb, r.full())
				}
			}
		}
	}
	for _, rule := range slices.Concat(d.rules("cede", ""), d.rules("cede", "kueue-system")) {
		for _, group := range rule.APIGroups {
			for _, name := range rule.Resources {
				for _, verb := range rule.Verbs {
					if !needed[right{group, name, verb}] {
						t.Errorf("a right that nothing needs: %s %s of %q", verb, name, group)
					}
				}
			}
		}
	}
	if len(needed) < 25 {
		t.Errorf("only %d rights are needed", len(needed))
	}
}

// The Deployment runs the program with flags that it knows, on the port and paths that it serves.
func TestDeployment(t *testing.T) {
	d := decodeDeployed(t, "deploy/serve.yaml")
	run, service, policy := d.deployments[0], d.services[0], d.policies[0]
	pod := run.Spec.Template
	container := pod.Spec.Containers[0]
	all := verbs()
	parsed := (*options)(nil)
	for i := range all {
		if all[i].name == "serve" {
			all[i].run = func(_ *cluster, o *options, _ stdio) (result, error) { parsed = o; return result{}, nil }
			all[i].own = true // it reads no cluster
		}
	}
	root := rootOf(all, stdio{out: new(output), err: new(output), screen: cli.Screen{}, name: "whatif", clock: noon}, new(int))
	root.SetArgs(cli.LongFlags(container.Args, takesValue(root)))
	if err := root.Execute(); err != nil || parsed == nil || !parsed.live || !parsed.serve.exposed {
		t.Fatalf("%q: %v", container.Args, err)
	}
	port := container.Ports[0]
	if parsed.serve.address != fmt.Sprintf(":%d", port.ContainerPort) || service.Spec.Ports[0].TargetPort.StrVal != port.Name || service.Annotations["prometheus.io/port"] != fmt.Sprint(port.ContainerPort) {
		t.Errorf("%s, %+v, %+v", parsed.serve.address, port, service)
	}
	address, _ := served(t)
	for _, probe := range []*core1.Probe{container.StartupProbe, container.ReadinessProbe, container.LivenessProbe} {
		if code, _ := get(t, address+probe.HTTPGet.Path, ""); code != http.StatusOK || probe.HTTPGet.Port.StrVal != port.Name {
			t.Errorf("%+v: status %d", probe.HTTPGet, code)
		}
	}
	if code, _ := get(t, address+service.Annotations["prometheus.io/path"], ""); code != http.StatusOK {
		t.Errorf("metrics: status %d", code)
	}
	for key, value := range run.Spec.Selector.MatchLabels {
		if pod.Labels[key] != value || service.Spec.Selector[key] != value || policy.Spec.PodSelector.MatchLabels[key] != value {
			t.Errorf("%s: %v, %v, %v", key, pod.Labels, service.Spec.Selector, policy.Spec.PodSelector)
		}
	}
	if pod.Spec.ServiceAccountName != d.accounts[0].Name || *pod.Spec.SecurityContext.RunAsUser != 65532 || run.Namespace != d.namespaces[0].Name {
		t.Errorf("%+v", pod.Spec)
	}
	if docker := string(must(os.ReadFile("deploy/Dockerfile"))(t)); !strings.Contains(docker, fmt.Sprintf("EXPOSE %d\n", port.ContainerPort)) || !strings.Contains(docker, "USER 65532:65532\n") {
		t.Error("the image has another port or user")
	}
}

// The scheduler beside the cluster's own writes its lease and nothing else by rights of its own; the rest are kube-scheduler's.
func TestDeployedScheduler(t *testing.T) {
	d := decodeDeployed(t, "../kubescheduler/deploy.yaml")
	for _, rule := range d.rules("cede-scheduler", "kube-system") {
		if !slices.Equal(rule.Resources, []string{"leases"}) {
			t.Errorf("%+v", rule)
		}
	}
	for _, r := range d.clusterRoles {
		for _, rule := range r.Rules {
			if !slices.Equal(rule.Verbs, []string{"get"}) || len(rule.Resources) > 0 {
				t.Errorf("%s: %+v", r.Name, rule)
			}
		}
	}
	for _, b := range d.bindings {
		if !strings.HasPrefix(b.RoleRef.Name, "system:") {
			t.Errorf("%s binds %s", b.Name, b.RoleRef.Name)
		}
	}
	if len(d.deployments) != 1 || len(d.maps) != 1 || len(d.rules("cede-scheduler", "kube-system")) == 0 {
		t.Errorf("%d deployments, %d maps", len(d.deployments), len(d.maps))
	}
}

// What kubectl apply -k applies is there, and the images that it replaces are those of the deployments.
func TestKustomizations(t *testing.T) {
	for dir, file := range map[string]string{"deploy": "serve.yaml", "../kubescheduler": "deploy.yaml"} {
		var k struct {
			APIVersion string   `json:"apiVersion"`
			Kind       string   `json:"kind"`
			Resources  []string `json:"resources"`
			Images     []struct {
				Name   string `json:"name"`
				NewTag string `json:"newTag"`
			} `json:"images"`
			ConfigMapGenerator []struct {
				Name      string   `json:"name"`
				Namespace string   `json:"namespace"`
				Files     []string `json:"files"`
				Options   struct {
					DisableNameSuffixHash bool              `json:"disableNameSuffixHash"`
					Labels                map[string]string `json:"labels"`
				} `json:"options"`
			} `json:"configMapGenerator"`
		}
		if err := yaml.UnmarshalStrict(must(os.ReadFile(filepath.Join(dir, "kustomization.yaml")))(t), &k); err != nil {
			t.Fatal(err)
		}
		if k.APIVersion != "kustomize.config.k8s.io/v1beta1" || k.Kind != "Kustomization" || !slices.Equal(k.Resources, []string{file}) {
			t.Errorf("%s: %+v", dir, k)
		}
		image, _, _ := strings.Cut(decodeDeployed(t, filepath.Join(dir, file)).deployments[0].Spec.Template.Spec.Containers[0].Image, ":")
		if len(k.Images) != 1 || k.Images[0].Name != image {
			t.Errorf("%s: images %+v, want %s", dir, k.Images, image)
		}
		for _, g := range k.ConfigMapGenerator {
			for _, f := range g.Files {
				must(os.Stat(filepath.Join(dir, f)))(t)
			}
		}
	}
}
