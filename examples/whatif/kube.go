package main

import (
	"cmp"
	"errors"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cedesched/cede/examples/bridge/kai"
	"github.com/cedesched/cede/examples/bridge/kueue"
	"github.com/cedesched/cede/examples/internal/answers"
)

// kube says which cluster is meant and who asks, by kubectl's own flags.
type kube struct {
	file, context string
	overrides     clientcmd.ConfigOverrides
}

// ofKubectl is the annotation of a flag of kubectl that says which cluster is meant.
const ofKubectl = "of kubectl"

// flags adds kubectl's flags about clusters and users. The help names them in a line.
func (k *kube) flags(flags *pflag.FlagSet) {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.StringVar(&k.file, "kubeconfig", "", "the `FILE` with the clusters of kubectl")
	all.StringVar(&k.context, "context", "", "the `CONTEXT` of kubectl")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.CurrentContext, names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{}, clientcmd.FlagInfo{} // they are flags of every verb
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	clientcmd.BindOverrideFlags(&k.overrides, all, names)
	all.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{ofKubectl: nil}
		f.Hidden = f.Name != "kubeconfig" && f.Name != "context"
		flags.AddFlag(f)
	})
}

// config is the configuration that kubectl would have with the same flags.
func (k *kube) config() clientcmd.ClientConfig {
	rules, overrides := clientcmd.NewDefaultClientConfigLoadingRules(), k.overrides
	rules.ExplicitPath, overrides.CurrentContext = k.file, k.context
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// client connects as kubectl would.
func (o *options) client(std stdio) (dynamic.Interface, error) {
	if std.connect != nil {
		return std.connect(o.context)
	}
	config, err := o.kube.config().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("there is no cluster to read by its API: kubectl has none configured (--kubeconfig FILE names its file); give the cluster with -f FILE, or ask about the sample with -sample cluster")
	} else if err != nil {
		return nil, err
	}
	config.QPS = -1 // the server has its own limits
	return dynamic.NewForConfig(config)
}

// reads reports whether the cluster is read by its API.
func (o *options) reads(std stdio) bool {
	return o.live || (std.plugin || o.namespace != "") && !o.liveSaid && o.sample == "" && len(o.files) == 0 && std.in == nil
}

// ownNamespace is the namespace of a name without one: that of the command line, else that of the context. Empty: there is none.
func (o *options) ownNamespace(std stdio) string {
	if o.namespace != "" || !o.reads(std) || std.connect != nil {
		return o.namespace
	}
	namespace, _, err := o.kube.config().Namespace()
	if err != nil {
		return ""
	}
	return namespace
}

// readable is the namespace to read where all may not be read.
func (o *options) readable(std stdio) string {
	return cmp.Or(o.namespace, answers.Namespace(o.workload), o.ownNamespace(std))
}

// resource is what is read of a cluster.
type resource struct {
	name, kind string
	must       bool // without it nothing can be said
	// named: objects that need it name it, and an answer that depends on one that is not there says so by itself.
	named bool
	// own: of the namespace that is asked for, if not of all. in: only of this one, the object with a name.
	own      bool
	in, only string
	versions []schema.GroupVersion // that there are of it, the latest first
}

// full is the name of the resource with its group, as kubectl takes it.
func (r *resource) full() string {
	if group := r.versions[0].Group; group != "" {
		return r.name + "." + group
	}
	return r.name
}

func versions(group string, list ...string) (all []schema.GroupVersion) {
	for _, v := range list {
		all = append(all, schema.GroupVersion{Group: group, Version: v})
	}
	return all
}

var (
	core    = versions("", "v1")
	ofKueue = versions(kueue.Group, "v1beta2", "v1beta1", "v1alpha1")
)

// followed are the resources of a cluster of Kueue, of which serve follows each change; placed too where a flavor has a topology.
// A manager of several clusters has ofManagers besides.
var (
	followed = []resource{
		{name: "clusterqueues", kind: "ClusterQueue", must: true, versions: ofKueue}, {name: "resourceflavors", kind: "ResourceFlavor", must: true, versions: ofKueue},
		{name: "workloads", kind: "Workload", must: true, own: true, versions: ofKueue}, {name: "localqueues", kind: "LocalQueue", must: true, own: true, versions: ofKueue},
		{name: "cohorts", kind: "Cohort", versions: ofKueue}, {name: "topologies", kind: "Topology", named: true, versions: ofKueue},
		{name: "admissionchecks", kind: "AdmissionCheck", named: true, versions: ofKueue},
		{name: "preemptionconfigs", kind: "PreemptionConfig", versions: ofKueue}, {name: "preemptionlimits", kind: "PreemptionLimit", versions: ofKueue},
		{name: "namespaces", kind: "Namespace", named: true, versions: core},
		{name: "configmaps", kind: "ConfigMap", in: "kueue-system", only: "kueue-manager-config", versions: core},
	}
	placed     = []resource{{name: "nodes", kind: "Node", named: true, versions: core}, {name: "pods", kind: "Pod", named: true, versions: core}}
	ofManagers = []resource{{name: "multikueueconfigs", kind: "MultiKueueConfig", versions: ofKueue}, {name: "multikueueclusters", kind: "MultiKueueCluster", versions: ofKueue}}
)

// ofNodes is what nodes and what runs there depend on.
var ofNodes = []resource{
	{name: "nodes", kind: "Node", must: true, versions: core}, {name: "pods", kind: "Pod", must: true, versions: core},
	{name: "poddisruptionbudgets", kind: "PodDisruptionBudget", versions: versions("policy", "v1")},
	{name: "priorityclasses", kind: "PriorityClass", versions: versions("scheduling.k8s.io", "v1")},
	{name: "podgroups", kind: "PodGroup", versions: versions("scheduling.k8s.io", "v1beta1", "v1alpha2", "v1alpha1")},
}

// listedOfKAI are the resources of a cluster of KAI.
var listedOfKAI = []resource{
	{name: "queues", kind: "Queue", must: true, versions: versions(kai.Group, "v2")},
	{name: "podgroups", kind: "PodGroup", must: true, own: true, versions: versions(kai.Group, "v2alpha2")},
	{name: "bindrequests", kind: "BindRequest", own: true, versions: versions(kai.Group, "v1alpha2")},
	{name: "pods", kind: "Pod", own: true, versions: core}, {name: "nodes", kind: "Node", versions: core},
	{name: "priorityclasses", kind: "PriorityClass", versions: versions("scheduling.k8s.io", "v1")},
	{name: "schedulingshards", kind: "SchedulingShard", named: true, versions: versions(kai.OwnGroup, "v1")}, // settings: most have the defaults
}
