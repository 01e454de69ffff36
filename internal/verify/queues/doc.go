// Package queues judges a decision of package preemption. It shares no code with what
// decides: it has its own arithmetic of the quota tree, its own reading of the rules, and a
// plain search that sorts all candidates and takes them one by one. It is slow and meant to
// be read, in this order:
//
//   - question.go: what is judged
//   - tree.go: the quota tree, who runs, and what they use
//   - rights.go: who may yield, by which right
//   - judge.go: the verdict on a decision
//   - search.go, fair.go: the documented search, for answers that nobody yields
//   - time.go: the instants at which an answer can change
package queues
