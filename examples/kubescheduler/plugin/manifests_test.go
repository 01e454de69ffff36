package plugin

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/features"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// The manifests apply to an API server, and what they permit the service account is enough for all that the scheduler does:
// it takes its lease, evicts a pod for a pod group, nominates and binds the members, and says why.
func TestManifests(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
	})
	c := newCluster(t, "--authorization-mode=RBAC", "--runtime-config=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true")
	configuration := c.apply(t)
	token, err := c.CoreV1().ServiceAccounts("kube-system").
		CreateToken(t.Context(), "cede-scheduler", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	own := &cluster{Clientset: c.Clientset, config: rest.CopyConfig(c.config)}
	own.config.BearerToken = token.Status.Token
	account, err := kubernetes.NewForConfig(own.config)
	if err != nil {
		t.Fatal(err)
	}
	leases := account.CoordinationV1().Leases("kube-system")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "cede-scheduler"}}
	lease, err = leases.Create(t.Context(), lease, metav1.CreateOptions{})
	if err == nil {
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Error("the lease: ", err)
	}
	if err := account.CoreV1().Pods("default").Delete(t.Context(), "x", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		t.Error("may not delete pods: ", err)
	}
	if _, err := account.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Error("the account may read secrets")
	}

	c.create(t, world{
		nodes: []*v1.Node{st.MakeNode().Name("n").Capacity(map[v1.ResourceName]string{"cpu": "2", "pods": "10"}).Obj()},
		pods:  []*v1.Pod{st.MakePod().Namespace("default").Name("low").Node("n").Req(map[v1.ResourceName]string{"cpu": "2"}).Obj()},
	}, 600)
	defer own.schedule(t, withoutLease(t, configuration))()
	c.group(t, scenarioGroup{Kind: "PodGroup", Name: "group", Policy: "gang", MinCount: 2, Priority: 10})
	for _, name := range []string{"one", "two"} {
		c.submit(t, st.MakePod().Namespace("default").Name(name).Priority(10).PodGroupName("group").SchedulerName("cede-scheduler").
			Req(map[v1.ResourceName]string{"cpu": "1"}).Obj(), 0)
	}
	for _, name := range []string{"one", "two"} {
		c.explained(t, name, "group", "It has a place once default/low yields")
	}
	c.end(t, "low")
	for _, name := range []string{"one", "two"} {
		c.await(t, name, "bound", isBound)
	}
}

// apply creates the objects of the manifests, and returns the configuration of the scheduler.
func (c *cluster) apply(t *testing.T) (configuration string) {
	t.Helper()
	text, err := os.ReadFile("../deploy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n---\n") {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(part), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, create := t.Context(), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
		switch o := object.(type) {
		case *v1.ServiceAccount:
			_, err = c.CoreV1().ServiceAccounts(o.Namespace).Create(ctx, o, create)
		case *v1.ConfigMap:
			configuration = o.Data["config.yaml"]
			_, err = c.CoreV1().ConfigMaps(o.Namespace).Create(ctx, o, create)
		case *rbacv1.ClusterRole:
			_, err = c.RbacV1().ClusterRoles().Create(ctx, o, create)
		case *rbacv1.ClusterRoleBinding:
			_, err = c.RbacV1().ClusterRoleBindings().Create(ctx, o, create)
		case *rbacv1.Role:
			_, err = c.RbacV1().Roles(o.Namespace).Create(ctx, o, create)
		case *rbacv1.RoleBinding:
			_, err = c.RbacV1().RoleBindings(o.Namespace).Create(ctx, o, create)
		case *appsv1.Deployment:
			_, err = c.AppsV1().Deployments(o.Namespace).Create(ctx, o, create)
		default:
			t.Fatalf("a %T in deploy.yaml", o)
		}
		if err != nil {
			t.Errorf("%v:\n%s", err, part)
		}
	}
	return configuration
}
