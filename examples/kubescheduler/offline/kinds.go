package offline

import (
	apps "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install" // these know the defaults, and convert other versions
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// scheme knows the types of the API server.
var scheme = legacyscheme.Scheme

// kinds are the kinds that kube-scheduler lists, each in the version that it reads, and those by which the API server
// completes a pod. true: they are in namespaces.
var kinds = map[schema.GroupVersionKind]bool{
	v1.SchemeGroupVersion.WithKind("Node"):                              false,
	v1.SchemeGroupVersion.WithKind("Pod"):                               true,
	v1.SchemeGroupVersion.WithKind("Namespace"):                         false,
	v1.SchemeGroupVersion.WithKind("PersistentVolume"):                  false,
	v1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"):             true,
	v1.SchemeGroupVersion.WithKind("Service"):                           true,
	v1.SchemeGroupVersion.WithKind("ReplicationController"):             true,
	v1.SchemeGroupVersion.WithKind("LimitRange"):                        true,
	apps.SchemeGroupVersion.WithKind("ReplicaSet"):                      true,
	apps.SchemeGroupVersion.WithKind("StatefulSet"):                     true,
	policy.SchemeGroupVersion.WithKind("PodDisruptionBudget"):           true,
	storage.SchemeGroupVersion.WithKind("StorageClass"):                 false,
	storage.SchemeGroupVersion.WithKind("CSINode"):                      false,
	storage.SchemeGroupVersion.WithKind("CSIDriver"):                    false,
	storage.SchemeGroupVersion.WithKind("CSIStorageCapacity"):           true,
	storage.SchemeGroupVersion.WithKind("VolumeAttachment"):             false,
	resource.SchemeGroupVersion.WithKind("DeviceClass"):                 false,
	resource.SchemeGroupVersion.WithKind("DeviceTaintRule"):             false,
	resource.SchemeGroupVersion.WithKind("ResourceClaim"):               true,
	resource.SchemeGroupVersion.WithKind("ResourceSlice"):               false,
	schedulingv1beta1.SchemeGroupVersion.WithKind("PodGroup"):           true,
	schedulingv1alpha3.SchemeGroupVersion.WithKind("CompositePodGroup"): true,
	scheduling.SchemeGroupVersion.WithKind("PriorityClass"):             false,
}
