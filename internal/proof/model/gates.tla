-------------------------------- MODULE gates --------------------------------
(* Gates and their manager: what gates.go says, in TLA+. The names are the same, and a test compares them.     *)
(* The source of the rules is docs/designs/gates.md. Times are ages, in ticks, that stop at the largest one    *)
(* that a rule reads.                                                                                           *)
EXTENDS Integers, FiniteSets

CONSTANTS Replicas,                  \* a set, one for each cluster
          Timeout, Patience, Grace,  \* in ticks
          InTransit,                 \* reports are under way for a time
          Prompt,                    \* all is seen and done within the tick, and replicas preempt in their turn
          AnyOrder                   \* any replica that waits is opened, not that of the first signal

VARIABLES real,        \* the replicas as they are
          seen,        \* the replicas as the manager last saw them
          sent,        \* reports under way ...
          under, old,  \* ... if there is one, and if it is from before the manager's last look or change
          event,       \* the manager has seen something new
          wake         \* 0, or 1 + the time until the manager is asked again

vars == <<real, seen, sent, under, old, event, wake>>

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
MaxOf(S) == CHOOSE x \in S : \A y \in S : x >= y
MinOf(S) == CHOOSE x \in S : \A y \in S : x <= y
Oldest == Max(Patience, Max(Grace, Timeout))

\* A replica: its phase; for Signalled and Preempting how long it has been so; 0 for a closed gate, else 1 + the
\* time since its opening.
R(phase, age, open) == [phase |-> phase, age |-> age, open |-> open]
None == R("Absent", 0, 0)

Init == /\ real = [i \in Replicas |-> R("Unseen", 0, 0)]
        /\ seen = real
        /\ sent = [i \in Replicas |-> None]
        /\ under = [i \in Replicas |-> FALSE]
        /\ old = under
        /\ event = FALSE
        /\ wake = 0

(* The scheduler of a cluster. *)
Becomes(i, r) == real' = [real EXCEPT ![i] = r] /\ UNCHANGED <<seen, sent, under, old, event, wake>>
IsIn(i, phases) == real[i].phase \in phases
Open(i) == real[i].open

Look(i) == IsIn(i, {"Unseen"}) /\ Becomes(i, R("Quiet", 0, Open(i)))
Signal(i) == IsIn(i, {"Unseen", "Quiet"}) /\ Open(i) = 0 /\ Becomes(i, R("Signalled", 0, 0))
Clear(i) == IsIn(i, {"Signalled"}) /\ Becomes(i, R("Quiet", 0, Open(i)))
Preempt(i) == /\ IsIn(i, {"Unseen", "Quiet", "Signalled"})
              /\ Open(i) > 0
              /\ Prompt => Open(i) - 1 < Timeout
              /\ Becomes(i, R("Preempting", 0, Open(i)))
Leave(i) == IsIn(i, {"Preempting"}) /\ Becomes(i, R("Quiet", 0, Open(i)))
Reserve(i) == IsIn(i, {"Unseen", "Quiet", "Signalled", "Preempting"}) /\ Becomes(i, R("Reserved", 0, Open(i)))
Evict(i) == IsIn(i, {"Reserved"}) /\ Becomes(i, R("Unseen", 0, 0))

(* What happens in a cluster reaches the manager: at once, or under way for any time. *)
Sees(i, r) == seen' = [seen EXCEPT ![i] = r] /\ event' = (event \/ seen[i] # r)

See(i) == /\ seen[i] # real[i]
          /\ Sees(i, real[i])
          /\ old' = [old EXCEPT ![i] = under[i]]
          /\ UNCHANGED <<real, sent, under, wake>>
Send(i) == /\ InTransit /\ ~under[i] /\ seen[i] # real[i]
           /\ sent' = [sent EXCEPT ![i] = real[i]]
           /\ under' = [under EXCEPT ![i] = TRUE]
           /\ UNCHANGED <<real, seen, old, event, wake>>
Arrive(i) == /\ under[i]
             /\ sent' = [sent EXCEPT ![i] = None]
             /\ under' = [under EXCEPT ![i] = FALSE]
             /\ old' = [old EXCEPT ![i] = FALSE]
             /\ IF old[i] THEN UNCHANGED <<seen, event>> ELSE Sees(i, sent[i])
             /\ UNCHANGED <<real, wake>>

(* The workload runs in one cluster. *)
Copies(i, r) == /\ real' = [real EXCEPT ![i] = r]
                /\ seen' = [seen EXCEPT ![i] = r]
                /\ old' = [old EXCEPT ![i] = under[i]]
                /\ event' = TRUE
                /\ UNCHANGED <<sent, under, wake>>
OtherReserved(i) == \E j \in Replicas \ {i} : seen[j].phase = "Reserved"

Withdraw(i) == OtherReserved(i) /\ seen[i].phase \notin {"Absent", "Reserved"} /\ Copies(i, None)
Dispatch(i) == ~OtherReserved(i) /\ seen[i].phase = "Absent" /\ Copies(i, R("Unseen", 0, 0))

(* The manager opens a gate, and says when it is to be asked again. *)
Waits(r) == r.phase = "Signalled" /\ r.open = 0
Waiting == {i \in Replicas : Waits(seen[i])}
FirstSignal == IF Waiting = {} THEN -1 ELSE MaxOf({seen[i].age : i \in Waiting})
Opened == {i \in Replicas : seen[i].open > 0}
Latest == IF Opened = {} THEN -1 ELSE MinOf({seen[i].open - 1 : i \in Opened})
Leaves == MaxOf({0} \union {Patience - seen[i].age : i \in {j \in Replicas : seen[j].phase = "Preempting"}})
End == IF Opened = {} THEN Patience - Max(0, FirstSignal) ELSE Timeout + Patience - Latest
Turn == IF Opened = {} THEN 0 ELSE Timeout - Latest
Rest == MaxOf({Turn, Min(Leaves, End)} \union IF Waiting = {} THEN {0} ELSE {Grace - FirstSignal})

Opens(i) == /\ seen' = [seen EXCEPT ![i].open = 1]
            /\ real' = IF real[i].phase = "Absent" THEN real ELSE [real EXCEPT ![i].open = 1]
            /\ old' = [old EXCEPT ![i] = under[i]]

Manager == /\ event' = FALSE
           /\ UNCHANGED <<sent, under>>
           /\ IF \E i \in Replicas : seen[i].phase = "Reserved"
              THEN wake' = 0 /\ UNCHANGED <<real, seen, old>>
              ELSE IF Rest > 0 \/ Waiting = {}
              THEN wake' = (IF Rest > 0 THEN 1 + Rest ELSE 0) /\ UNCHANGED <<real, seen, old>>
              ELSE wake' = 1 + Timeout /\ \E i \in Waiting : (AnyOrder \/ seen[i].age = FirstSignal) /\ Opens(i)
Due == event \/ wake = 1

Ask == Due /\ Manager
AskAgain == ~Due /\ Manager

(* Time passes. *)
Older(r) == R(r.phase,
              IF r.phase \in {"Signalled", "Preempting"} THEN Min(r.age + 1, Oldest) ELSE 0,
              IF r.open > 0 THEN Min(r.open + 1, 1 + Timeout + Patience) ELSE 0)
MayPass == /\ ~Due
           /\ \A i \in Replicas : /\ seen[i] = real[i] /\ ~under[i]
                                  /\ real[i].phase = "Preempting" => real[i].age < Patience - 1

Tick == /\ Prompt => MayPass
        /\ real' = [i \in Replicas |-> Older(real[i])]
        /\ seen' = [i \in Replicas |-> Older(seen[i])]
        /\ sent' = [i \in Replicas |-> Older(sent[i])]
        /\ wake' = IF wake > 1 THEN wake - 1 ELSE wake
        /\ UNCHANGED <<under, old, event>>

Next == \/ \E i \in Replicas : \/ Look(i) \/ Signal(i) \/ Clear(i) \/ Preempt(i) \/ Leave(i) \/ Reserve(i) \/ Evict(i)
                               \/ Send(i) \/ Arrive(i) \/ See(i) \/ Withdraw(i) \/ Dispatch(i)
        \/ Ask \/ AskAgain \/ Tick

Fairness == /\ \A i \in Replicas : /\ WF_vars(Arrive(i)) /\ WF_vars(See(i))
                                   /\ WF_vars(Withdraw(i)) /\ WF_vars(Dispatch(i))
            /\ WF_vars(Ask) /\ WF_vars(Tick)
Spec == Init /\ [][Next]_vars /\ Fairness

(* Safety. *)
OneTurn == Cardinality({i \in Replicas : Open(i) > 0 /\ Open(i) - 1 < Timeout}) <= 1
OneAtATime == Prompt => Cardinality({i \in Replicas : IsIn(i, {"Preempting"})}) <= 1
TooLong == \A i \in Opened : seen[i].open - 1 >= Timeout + Patience
OpensRightly == [][\A i \in Replicas : (Ask \/ AskAgain) /\ seen'[i] # seen[i] =>
                     /\ seen[i].phase = "Signalled"
                     /\ \A j \in Replicas : seen[j].phase # "Reserved"
                     /\ \A j \in Replicas \ {i} : seen[j].phase = "Preempting" /\ seen[j].age < Patience => TooLong]_vars
PreemptsOpen == [][\A i \in Replicas : Preempt(i) => Open(i) > 0]_vars
EvictedClosed == [][\A i \in Replicas : Evict(i) => real'[i].open = 0]_vars

(* Liveness, without Prompt. *)
NoneReserved == \A j \in Replicas : ~IsIn(j, {"Reserved"})
EachHasItsTurn == \A i \in Replicas : ~<>[](IsIn(i, {"Signalled"}) /\ Open(i) = 0 /\ NoneReserved)
SentAgain == \A i \in Replicas : ~<>[](IsIn(i, {"Absent"}) /\ NoneReserved)
===============================================================================
