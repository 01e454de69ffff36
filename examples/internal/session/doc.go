// Package session plays sessions of KAI's scheduler: in which order the groups that wait are served, which of them start, and who yields
// for them. A session takes actions, one after the other: allocate gives idle room, consolidation moves pods that run so that others
// have room, reclaim takes back what others hold over their fair shares, preempt takes from lower priority in the own queue. Each
// decision is one of package preemption, with room on nodes; the order of queues is that of [fairshare.Reclaim.ServedNext]. Shares are
// divided once, by what was requested at the start, and what queues hold follows every step. Moves are those of package moves; a group
// moves in part for consolidation. For a reclaim or a preemption those victims move that have a place elsewhere.
//
// With [Cluster].KAISearch places and victims are those that KAI's own search finds instead:
//
//   - probe: the first 1, 2, 4, ... pods of a group, and what is carried out;
//   - candidates, victims: who may yield, and who is next;
//   - sets: which of them are tried together, by node;
//   - trial: what a session does once they have left;
//   - accept: do the rules accept that?
//   - books: what is free on nodes, and which of them KAI prefers.
package session
