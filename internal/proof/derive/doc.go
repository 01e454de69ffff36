// Package derive is a test. It reads files with small clusters, described in a few words on each line, and
// questions about them. It writes below each question how the answer came about, and the
// answer. There is one file for each design (testdata). Each case begins with the sentence of
// the design that it shows: a reader learns the design from the files.
//
//	> "Lower priority first" (Preemption, step 3.2)
//	queue a gpu=8 within=LowerPriority
//	running five in=a priority=5 gpu=4 since=1m
//	running one in=a priority=1 gpu=4 since=9m
//	ask in=a priority=10 gpu=4
//	----
//	  short of 4 default/gpu in queue "a"
//	It fits once one yields.
//	Who may yield
//	  queue "a" (withinClusterQueue LowerPriority)
//	    2 may yield: one, five
//	What was tried
//	  1. the queue may borrow
//	     take one in queue "a": the quota is enough
//	     the request fits without them
//	Preempt
//	  victim one (InClusterQueue)
//
// The first lines are those of package explain. In fair sharing each comparison of shares follows.
// The last lines are the decision.
//
// Each question is also asked by other routes: the witness, the state in another order, a
// snapshot made by edits, state and request after a JSON round trip, the decision after one,
// another time, no explanation. Only a different answer is printed, as DISAGREES.
//
// # Files
//
// A line is one of these:
//
//	# ...      a comment
//	> ...      the sentence; with the first such line a new case begins, about an empty
//	           cluster; what is stated before the first case holds in all of them
//	VERB NAME KEY=VALUE... KEY...
//	----       and what follows up to an empty line: an answer, which a run writes anew
//
// It is noon. Durations are as in 90s or 1h30m, and a time is given as how long ago it is:
// since=5m. Answers have the time of day. A resource is cpu, gpu, memory or slots, else
// FLAVOR/RESOURCE, where an empty flavor is to be assigned: /gpu=4. Values of policies and
// such are the texts of their constants.
//
// # Quota
//
//	config sharing= strategies=A,B kueue016
//	       preemptMin= reclaimMin= method=
//	       rulesAlone
//	rules NAME
//	cohort NAME in=COHORT RESOURCE=NOMINAL borrow.RESOURCE=LIMIT lend.RESOURCE=LIMIT weight=
//	       preemptMin= reclaimMin=
//	queue NAME in=COHORT (as a cohort, and) within= reclaim= borrowing= threshold= minAdmit=
//	       whenCanBorrow= whenCanPreempt= preference= rules=RULES label.KEY=VALUE
//	running ID in=QUEUE local=LOCALQUEUE priority= boost= uid= RESOURCE=AMOUNT pods=COUNT min= leaving=
//	       class= label.KEY=VALUE since= queued= created= evicted neverYields
//	ask [ID] in=QUEUE (as running, and) now=LATER needs=RESOURCE,... gates=A,B open=A
//	       neverPreempts usage=LOCALQUEUE:NUMBER,... observed=TRIGGER:DURATION,...
//	       domain.NAME=NODE,...
//	check
//
// An amount is that of one replica; set=NAME begins the next pod set. A running workload was
// created and queued when it started, unless queued and created say otherwise; a workload that
// asks was queued now. If there are nodes, a workload asks for a place for its pods, too; the pods
// of a running one are those of=ID, of its pod set main unless label.podSet says otherwise. check
// asks whether state and configuration are valid.
//
// The rules with a name are those of docs/designs/rules.md. observed says for how long triggers
// have held.
//
// # Nodes
//
//	config mode= order= budgets= maxCandidates= firstNode=
//	node NAME RESOURCE=CAPACITY label.KEY=VALUE unschedulable
//	group ID priority= mode= basic min=PODS in=QUEUE preemptMin= reclaimMin=
//	pod ID on=NODE of=GROUP in=QUEUE priority= RESOURCE=AMOUNT since= preemptMin= reclaimMin=
//	       label.KEY=VALUE leaving
//	promise (as pod)
//	budget NAME allows= label.KEY=VALUE
//	place in=QUEUE priority= RESOURCE=AMOUNT pods=COUNT min= policy= unschedulable prefer=NODE,...
//	       only.POD=NODE,... domain.NAME=NODE,...
//
// A pod takes one slot unless its line names resources. place asks about the pod in0; with
// pods, about a group of that many pods, in0, in1 and so on, of which all are needed unless
// min says otherwise.
//
// # Gates
//
//	replica NAME is=RESERVATION gate= signalled= cleared= opened= evicted= reason=
//	       leavingSince= victims= lost=
//	orchestrate order= timeout= preemptingTimeout= grace=
package derive
