package plugin

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/component-base/configz"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app/testing"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
	"k8s.io/kubernetes/pkg/scheduler"
)

// cluster is an API server with etcd in the process of the test, and no kubelet: the test binds
// pods to nodes and ends those that terminate.
type cluster struct {
	*kubernetes.Clientset
	config    *rest.Config
	scheduler *scheduler.Scheduler // the one that runs
	storage   *embed.Config
	etcd      *embed.Etcd
	limit     int // of the scheduler's requests in a second; zero: 1000
}

// newCluster starts an API server with flags.
func newCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts an API server")
	}
	c := &cluster{storage: embed.NewConfig()}
	c.storage.Dir, c.storage.LogLevel = t.TempDir(), "fatal"
	sockets, err := os.MkdirTemp("", "cede") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(sockets) })
	c.storage.ListenClientUrls = []url.URL{{Scheme: "unix", Path: filepath.Join(sockets, "client")}}
	c.storage.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: filepath.Join(sockets, "peer")}}
	c.startEtcd(t)
	t.Cleanup(func() { c.etcd.Close() })
	if _, file, _, _ := runtime.Caller(0); !filepath.IsAbs(file) { // built with -trimpath: the server does not find its certificates
		modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("TEST_SRCDIR", strings.TrimSpace(string(modules)))
		t.Setenv("TEST_WORKSPACE", ".")
	}
	storage := storagebackend.NewDefaultConfig("registry", nil)
	storage.Transport.ServerList = []string{"unix://" + c.storage.ListenClientUrls[0].Path}
	server, err := apiserver.StartTestServer(t, nil, append(flags, "--disable-admission-plugins=ServiceAccount,Priority,TaintNodesByCondition"), storage)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.TearDownFn)
	c.config = server.ClientConfig
	if c.Clientset, err = kubernetes.NewForConfig(server.ClientConfig); err != nil {
		t.Fatal(err)
	}
	return c
}

// startEtcd starts etcd with what it has stored.
func (c *cluster) startEtcd(t *testing.T) {
	t.Helper()
	var err error
	if c.etcd, err = embed.StartEtcd(c.storage); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.etcd.Server.ReadyNotify():
	case err := <-c.etcd.Err():
		t.Fatal(err)
	}
}

// schedule runs the scheduler of the command with a configuration, until stop is called.
func (c *cluster) schedule(t *testing.T, configuration string) (stop func()) {
	t.Helper()
	access := api.NewConfig()
	access.Clusters["test"] = &api.Cluster{Server: c.config.Host, TLSServerName: c.config.ServerName, CertificateAuthorityData: c.config.CAData}
	access.AuthInfos["test"] = &api.AuthInfo{Token: c.config.BearerToken}
	access.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	access.CurrentContext = "test"
	dir := t.TempDir()
	file, credentials := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "kubeconfig")
	configuration += fmt.Sprintf("leaderElection: {leaderElect: false}\npodInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1\nclientConnection: {kubeconfig: %q, qps: %d, burst: %d}\n", credentials, cmp.Or(c.limit, 1000), cmp.Or(2*c.limit, 1000))
	if err := clientcmd.WriteToFile(*access, credentials); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	set := options.NewOptions()
	set.ConfigFile, set.SecureServing.BindPort = file, 0
	ctx, cancel := context.WithCancel(t.Context())
	cc, own, err := app.Setup(ctx, set, app.WithPlugin(Name, New))
	if err != nil {
		t.Fatal(err)
	}
	c.scheduler = own
	ended := make(chan error)
	go func() { ended <- app.Run(ctx, cc, own) }()
	return func() {
		cancel()
		<-ended
		configz.Delete("componentconfig")
	}
}

// bySample is the sample in the place of the cluster's scheduler, byDefault that of kube-scheduler. How
// the test connects, and that it leads, is the test's.
func bySample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before := withoutLease(t, string(text))
	own := strings.Replace(before, "schedulerName: cede-scheduler", "schedulerName: default-scheduler", -1)
	if own == before {
		t.Fatalf("config.yaml is not as expected:\n%s", text)
	}
	return own
}

// withoutLease is a configuration without its lease.
func withoutLease(t *testing.T, text string) string {
	t.Helper()
	before, after, found := strings.Cut(text, "leaderElection:")
	_, profiles, also := strings.Cut(after, "profiles:")
	if !found || !also {
		t.Fatalf("the configuration is not as expected:\n%s", text)
	}
	return before + "profiles:" + profiles + "\n"
}

const byDefault = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

// create creates a world, but for the pod that waits. Its victims leave at once, or, with
// seconds of grace, when the test ends them.
func (c *cluster) create(t *testing.T, w world, grace int64) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range w.nodes {
		n.UID = ""
		_, err := c.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
		must(err)
	}
	for _, b := range w.budgets {
		if b.Namespace != metav1.NamespaceDefault {
			continue
		}
		created, err := c.PolicyV1().PodDisruptionBudgets(b.Namespace).Create(ctx, b, metav1.CreateOptions{})
		must(err)
		created.Status = b.Status
		_, err = c.PolicyV1().PodDisruptionBudgets(b.Namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
		must(err)
	}
	for _, p := range w.pods {
		started := p.Status.StartTime
		created := c.submit(t, p, grace)
		created.Status.Phase, created.Status.StartTime = v1.PodRunning, started
		_, err := c.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, created, metav1.UpdateOptions{})
		must(err)
	}
}

// submit creates a pod.
func (c *cluster) submit(t *testing.T, p *v1.Pod, grace int64) *v1.Pod {
	t.Helper()
	p.UID, p.Spec.TerminationGracePeriodSeconds = "", &grace
	created, err := c.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// await waits until a pod is as wanted, and returns it.
func (c *cluster) await(t *testing.T, name, what string, wanted func(*v1.Pod) bool) (p *v1.Pod) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		var err error
		p, err = c.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, name, metav1.GetOptions{})
		return err == nil && wanted(p), err
	})
	if err != nil {
		t.Fatalf("pod %s is never %s: %v: node %q, nominated to %q, %v", name, what, err, p.Spec.NodeName, p.Status.NominatedNodeName, p.Status.Conditions)
	}
	return p
}

func isBound(p *v1.Pod) bool     { return p.Spec.NodeName != "" }
func isNominated(p *v1.Pod) bool { return p.Status.NominatedNodeName != "" }

// told returns the names of the pods that were told to stop, sorted.
func (c *cluster) told(t *testing.T) (names []string) {
	t.Helper()
	for _, p := range c.all(t) {
		if p.DeletionTimestamp != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// explained waits until the annotation of a pod, and an event of it or of its group, say why it waits: kubectl describe
// shows both.
func (c *cluster) explained(t *testing.T, name, about, text string) {
	t.Helper()
	c.await(t, name, "annotated", func(p *v1.Pod) bool { return strings.HasPrefix(p.Annotations[Annotation], text) })
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		list, err := c.CoreV1().Events(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + about})
		return err == nil && slices.ContainsFunc(list.Items, func(e v1.Event) bool {
			return strings.HasPrefix(e.Reason, "Cede") && strings.HasPrefix(e.Message, text)
		}), err
	})
	if err != nil {
		t.Errorf("no event of %s says %q: %v", about, text, err)
	}
}

// all returns all pods by name, sorted.
func (c *cluster) all(t *testing.T) []v1.Pod {
	t.Helper()
	list, err := c.CoreV1().Pods(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b v1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list.Items
}

// end ends a pod, as a kubelet does after its grace period.
func (c *cluster) end(t *testing.T, name string) {
	t.Helper()
	now := int64(0)
	err := c.CoreV1().Pods(metav1.NamespaceDefault).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

// clear removes all nodes, pods, replica sets and budgets.
func (c *cluster) clear(t *testing.T) {
	t.Helper()
	for _, p := range c.all(t) {
		c.end(t, p.Name)
	}
	for _, err := range []error{
		c.PolicyV1().PodDisruptionBudgets(metav1.NamespaceDefault).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}),
		c.AppsV1().ReplicaSets(metav1.NamespaceDefault).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}),
		c.CoreV1().Nodes().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
