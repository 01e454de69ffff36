// Package assign chooses flavors for requests without one. For each pod set and each resource
// group of its queue it tries the flavors in order. It asks of each resource whether it fits
// or could fit by preemption; the queue's fungibility says where the trials stop, and which
// flavor is best if they do not stop. The files: plan (a queue's resource groups with columns
// for names), eligible (which flavors a pod set may have), trial (one flavor), assign (the
// order of the trials and the choice).
//
// The rules are those of Kueue's flavor assigner as built.
package assign
