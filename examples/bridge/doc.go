// Package bridge holds what the bridges share. A bridge turns the API objects of a scheduler
// into a state for cede:
//
//   - bridge/kueue: the objects of Kueue into a [preemption.State];
//   - bridge/kai: the objects of KAI into a [preemption.State];
//   - bridge/kubernetes: nodes, pods and pod groups into a placement.State.
//
// A bridge imports neither k8s.io nor the types of a scheduler, so it binds its user to no
// version of them. Its own types hold the fields that a decision depends on, under the names
// in the API. Fill them in one of two ways:
//
//   - read JSON: json.Unmarshal of an API object, or of its unstructured form, fills them and
//     skips the rest. For YAML use any package that reads it by way of JSON;
//   - write them down: they are plain structs. Quantities come from [Units], [Milli] and
//     [ParseQuantity].
//
// Each bridge returns a list of [Note] about what an object says and the state cannot hold.
// FIELDS.md beside its code says what becomes of every field.
package bridge
