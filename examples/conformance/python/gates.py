"""Says which gate to open and when to ask again, from the words of package gate."""
from times import instant, text

MINUTE = 60 * 10**9


class Replica:
    """A replica as the manager last saw it."""

    def __init__(self, facts, gate):
        gates, blocked = facts.get("Gates", {}), facts.get("Gates", {}).get("blocked", {})
        state = next((s for s in gates.get("states", []) if s["name"] == gate), {})
        self.name, self.progress = facts["Name"], facts.get("Progress", "NotEvaluated")
        self.named = gate in gates.get("names", [])
        self.opened = instant(state["since"]) if self.named and state.get("position") == "Open" else None
        self.signal = instant(blocked["since"]) if blocked.get("active") and blocked.get("reason") == "PreemptionGated" else None
        self.since = instant(facts["Since"]) if self.progress == "Preempting" else None
        offer = facts.get("Offer", {})
        lost = offer.get("Lost")
        # Replicas without an offer come last, those that say what is lost before those that do not.
        self.offer = not offer.get("Victims"), lost is None, lost or 0, offer.get("Victims", 0), offer.get("LostWork", 0)

    def waits(self):
        """It signals, its gate is closed, and it neither has its quota nor preempts."""
        return self.named and self.opened is None and self.signal is not None and self.progress in ("NotEvaluated", "Pending")


def following(order, replicas):
    """The replica whose gate may be opened, if there is one, and whether a replica has its quota."""
    if order == "Preference":
        for r in replicas:
            if r.progress == "Reserved":
                return None, True
            if r.waits():
                return r, False
            if r.progress == "NotEvaluated" and r.opened is None:
                return None, False  # it may fit without preemption
        return None, False
    if any(r.progress == "Reserved" for r in replicas):
        return None, True
    waiting = [r for r in replicas if r.waits()]
    if order == "Cheapest":
        return min(waiting, key=lambda r: (r.offer, r.signal, r.name), default=None), False
    return min(waiting, key=lambda r: (r.signal, r.name), default=None), False


def orchestrate(question):
    config, now = question.get("config", {}), instant(question["now"])
    gate = config.get("Gate") or "kueue.x-k8s.io/multikueue"
    timeout = config.get("Timeout") or 5 * MINUTE
    leaving, grace = config.get("PreemptingTimeout") or timeout, config.get("Grace", 0)
    replicas = [Replica(facts, gate) for facts in question["replicas"] or []]
    chosen, done = following(config.get("Order", "FirstSignal"), replicas)
    if done:
        return {"Done": True}
    opened = max((r.opened for r in replicas if r.opened is not None), default=None)
    signal = min((r.signal for r in replicas if r.waits()), default=None)
    ends = []
    if opened is not None:
        ends.append(opened + timeout)
    last = max((r.since + leaving for r in replicas if r.progress == "Preempting"), default=None)
    if last is not None:
        turn = opened + timeout if opened is not None else signal
        ends.append(last if turn is None else min(last, turn + leaving))
    if chosen is not None:
        ends.append(signal + grace)
    ends = [end for end in ends if end > now]
    if ends:
        return {"WakeAt": text(max(ends))}
    if chosen is None:
        return {}
    return {"Open": chosen.name, "WakeAt": text(now + timeout)}
