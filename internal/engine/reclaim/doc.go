// Package reclaim finds victims by fair shares, as KAI does: a queue takes back what others hold over
// their shares, or preempts lower priority in itself. The rules are those of package
// internal/entitled; docs/designs/fairshare.md has them in words.
//
//   - taker: the two attempts, and what they take;
//   - turns: which queue is next;
//   - order: which of two siblings is next;
//   - line: what comes next in a queue;
//   - allowed: may these victims yield together?
package reclaim
