#!/usr/bin/env python3
"""Answers a part of the conformance suite from scratch: priority preemption in a queue, reclaim in a tree of cohorts, and gates.

It is written from the words of docs/concepts.md, docs/designs/priority.md and the documentation of packages preemption and gate. It
reads a question in each line of its standard input and writes an answer in one line. claims.json says what of the suite it claims.
"""
import json
import sys

from gates import orchestrate
from times import instant


class Node:
    """A queue or cohort of the quota tree."""

    def __init__(self, facts, parent):
        self.name, self.parent_name, self.facts = facts["name"], parent, facts
        self.parent, self.children = None, []
        self.quota = {(q["flavor"], q["resource"]): q for q in facts.get("quotas", [])}
        self.own = {}  # usage of the workloads of a queue, by column

    def subtree(self, column):
        """The quota of the node and what its members lend to it."""
        return self.quota.get(column, {}).get("nominal", 0) + sum(c.subtree(column) - c.kept(column) for c in self.children)

    def kept(self, column):
        """What the node lends to nobody."""
        limit = self.quota.get(column, {}).get("lendingLimit")
        return 0 if limit is None or self.parent is None else max(0, self.subtree(column) - limit)

    def usage(self, column):
        """What its workloads use, and what its members use of what they share."""
        return self.own.get(column, 0) + sum(max(0, c.usage(column) - c.kept(column)) for c in self.children)

    def available(self, column):
        """The most that it can still take: its own idle quota, and what the cohorts above can give, as far as the limits permit."""
        if self.parent is None:
            return self.subtree(column) - self.usage(column)
        subtree, kept, usage = self.subtree(column), self.kept(column), self.usage(column)
        above, limit = self.parent.available(column), self.quota.get(column, {}).get("borrowingLimit")
        if limit is not None:
            above = min(above, subtree - kept - max(0, usage - kept) + limit)
        return max(0, kept - usage) + above

    def borrows(self, column):
        return self.usage(column) > self.subtree(column)

    def path(self):
        """The node and all above it."""
        return [self] + (self.parent.path() if self.parent else [])


class World:
    def __init__(self, question):
        state, self.pending = question["state"], question["request"]["workload"]
        cohorts = {c["name"]: Node(c, c.get("parent")) for c in state.get("cohorts", [])}
        self.queues = {q["name"]: Node(q, q.get("cohort")) for q in state["queues"]}
        for node in list(cohorts.values()) + list(self.queues.values()):
            if node.parent_name:
                node.parent = cohorts[node.parent_name]
                node.parent.children.append(node)
        self.queue = self.queues[self.pending["queue"]]
        self.request = self.amounts(self.pending)
        self.now = question["request"]["now"]
        self.running = state.get("admitted", [])
        for w in self.running:
            self.add(w, 1)

    @staticmethod
    def amounts(workload):
        total = {}
        for pod_set in workload.get("podSets", []):
            for r in pod_set.get("requests") or []:
                column = r["flavor"], r["resource"]
                total[column] = total.get(column, 0) + r["amount"] * (1 if pod_set.get("totals") else pod_set["count"])
        return total

    def add(self, workload, sign):
        own = self.queues[workload["queue"]].own
        for column, amount in self.amounts(workload).items():
            own[column] = own.get(column, 0) + sign * amount

    def short(self):
        return [column for column, amount in self.request.items() if amount > max(0, self.queue.available(column))]

    def within(self, node, column):
        """Whether the request stays within the quota of a subtree that its queue is in."""
        amount = self.request[column]
        for n in self.queue.path():
            if n is node:
                return n.usage(column) + amount <= n.subtree(column)
            amount = max(0, amount - max(0, n.kept(column) - n.usage(column)))
        return False

    def common(self, queue):
        """The lowest cohort above both queues; None: they are in different trees."""
        above = queue.path()
        return next((n for n in self.queue.path() if n in above), None)

    def may_yield(self, workload, needs):
        """The reason for which a workload may yield, or None."""
        queue, policy = self.queues[workload["queue"]], self.queue.facts.get("preemption", {})
        mine, theirs = self.pending.get("priority", 0), workload.get("priority", 0)
        if not any(self.amounts(workload).get(column, 0) > 0 for column in needs):
            return None
        if queue is self.queue:
            within = policy.get("withinClusterQueue", "Never")
            newer = workload["queued"] and instant(workload["queued"]) > instant(self.pending["queued"])
            if within == "Never" or theirs > mine or theirs == mine and not (within == "LowerOrNewerEqualPriority" and newer):
                return None
            return "InClusterQueue"
        reclaim, common = policy.get("reclaimWithinCohort", "Never"), self.common(queue)
        if common is None or reclaim == "Never" or reclaim == "LowerPriority" and theirs >= mine:
            return None
        # The request must fit in the quota of a subtree that the other queue is not in.
        ours = self.queue.path()[:self.queue.path().index(common)]
        if not any(all(self.within(node, column) for column in needs) for node in ours):
            return None
        for node in queue.path():
            if node is common:
                return "InCohortReclamation"
            if not any(node.borrows(column) for column in needs):
                return None  # there is nothing to give back

    def order(self, workload):
        own = workload["queue"] == self.queue.name
        started = instant(workload.get("reservedAt", self.now))
        equal = own and workload.get("priority", 0) == self.pending.get("priority", 0)
        return own, equal, workload.get("priority", 0), -started, workload.get("uid", ""), workload["id"]

    def decide(self):
        needs = self.short()
        if not needs:
            return {"outcome": "Fits"}
        taken = []
        reasons = {w["id"]: self.may_yield(w, needs) for w in self.running}
        for w in sorted((w for w in self.running if reasons[w["id"]]), key=self.order):
            if self.may_yield(w, needs) is None:
                continue  # its queue is back within its quota
            self.add(w, -1)
            taken.append(w)
            if not self.short():
                break
        else:
            return {"outcome": "Impossible"}
        for w in taken[-2::-1]:  # the last one is needed
            self.add(w, 1)
            if self.short():
                self.add(w, -1)
            else:
                taken.remove(w)
        victims = []
        for number, w in enumerate(taken, 1):
            victim = {"workload": w["id"], "queue": w["queue"], "reason": reasons[w["id"]], "order": number}
            if w["queue"] != self.queue.name:
                victim["cohort"] = self.common(self.queues[w["queue"]]).name
            victims.append(victim)
        return {"outcome": "Preempt", "victims": sorted(victims, key=lambda v: v["workload"])}


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            question = asked["question"]
            answer = {"id": asked["id"], "answer": orchestrate(question) if asked["form"] == "orchestrate" else World(question).decide()}
        except Exception as problem:  # one question that it cannot read must not end it
            answer = {"id": asked["id"], "error": repr(problem)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
