// Package nodes decides as package placement does, slowly and in plain sight: on names, with every rule read from the
// steps in the comment of that package. Tests compare decisions with it, and package verify judges by it. It has its own
// arithmetic and knows nothing of what decides.
//
//   - world.go: which pods are there, and what is free beside them
//   - place.go: whether a pod may run on a node, and placing the pods of the request
//   - claims.go: devices that pods hold together
//   - nested.go: what groups of the request need, and placing them
//   - units.go: what yields together, what is more important, what budgets allow
//   - right.go: which rule keeps a unit, and until when
//   - steps.go: steps 1 to 7, in one domain
//   - score.go: step 8, the best of the domains
//   - decide.go, basic.go: the decision, for the pods of a basic group one by one
//   - resize.go: a running pod that is to have other requests
//   - why.go: what is short, and which units stand in the way
//   - when.go: the first instant at which time alone helps
//   - sets.go: every set of units, with every way to place the pods
package nodes
