// Package assign chooses the flavors of a request that comes without: for each pod set,
// for each resource group of its queue, the flavors are tried in order, each resource is
// asked whether it fits or could by preemption, and the queue's fungibility says where
// the trial stops and which flavor is best if it does not. Its files: plan (a queue's
// resource groups with columns for names), quota (does it fit; from how far up the tree),
// eligible (may a pod set have a flavor),
// trial (one flavor), assign (the order of the trials and the choice).
//
// The rules are those of Kueue's flavor assigner as built.
package assign
