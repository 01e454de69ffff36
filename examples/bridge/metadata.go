package bridge

import "time"

// Metadata is the metadata of an API object. Name is required; so is Namespace for an object
// in a namespace. ID is "namespace/name", or the name of an object without namespace.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"` // nil: the object is not being deleted
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []OwnerReference  `json:"ownerReferences"`
}

// OwnerReference names an owner of an object.
type OwnerReference struct {
	Kind       string `json:"kind"`
	Controller bool   `json:"controller"` // it makes the object anew; one owner at most is
}

// ID is "namespace/name", or the name of what is in no namespace.
func (m *Metadata) ID() string {
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}
