"use strict";
// The answer about the selected workload: the decision, its sliders, the steps.
(() => {
  let steps = [], at = -1, answer = null;

  // step is the step of the explanation that is shown, as sets of workloads; null for none.
  page.step = () => {
    const s = steps[at];
    return s ? { node: s.node, taken: new Set(s.taken), mayYield: new Set(s.mayYield), kept: new Set(s.kept) } : null;
  };
  page.forgetSteps = () => { steps = []; at = -1; };
  // forgetStep leaves the explanation: the drawing shows the decision again.
  page.forgetStep = () => { at = -1; page.drawSteps(steps); };

  const slider = (label, value, min, max, onvalue) => {
    const number = page.make("input", { type: "number", step: "1", value, "aria-label": label });
    const range = page.make("input", { type: "range", min, max, step: "1", value, "aria-label": label + ", as a slider", class: "slide" });
    range.addEventListener("input", () => { number.value = range.value; onvalue(range.value); });
    number.addEventListener("change", () => { if (number.value !== "") { range.value = number.value; onvalue(number.value); } });
    return [page.make("span", { class: "label" }, label), range, number];
  };

  const table = (head, rows) => page.make("table", {},
    page.make("thead", {}, page.make("tr", {}, ...head.map((h) => page.make("th", { scope: "col" }, h)))),
    page.make("tbody", {}, ...rows.map((r) => page.make("tr", {}, ...r.map((c, i) => page.make("td", { "data-label": head[i] }, c))))));
  page.table = table;

  // drawAnswer draws the answer; what the user holds, a slider, stays in place.
  page.drawAnswer = (a) => {
    const box = page.byId("answer");
    answer = a;
    page.byId("only").closest("label").hidden = !a;
    for (const r of document.querySelectorAll("input[name=when]")) r.disabled = !(a && a.hasAfter);
    if (!a) {
      box.replaceChildren(page.make("p", { class: "hint" }, "Choose a workload that waits: the answer, the reasons and what would change it are shown here."));
      return;
    }
    const same = box.dataset.workload === a.workload && box.querySelector(".verdict-line");
    const said = (s, role) => page.make("div", { class: "verdict-line", role }, page.badge(s.outcome), page.make("p", {}, ...page.prose(s.words)));
    const verdict = !a.before ? said(a, "status") : page.make("div", { class: "compare" },
      page.make("div", {}, page.make("h3", {}, "With the changes"), said(a, "status")), page.make("div", { class: "today" }, page.make("h3", {}, "Without them"), said(a.before)));
    const retry = a.retryAt ? page.make("p", { class: "retry" }, "RetryAt ", page.time(a.retryAt), " ",
      page.make("button", { type: "button", onclick: () => page.moveTo({ at: a.retryAt }) }, "Go there")) : null;
    const victims = a.victims ? page.make("div", { class: "victims" }, page.make("h3", {}, a.outcome !== "Preempt" ? "What would yield, in this order" : "What yields, in this order"),
      table(["workload", "priority", "runs", "frees", "why"], a.victims.map((v) => [
        page.make("span", {}, v.workload + (v.leaving ? " (leaving already)" : ""), page.make("small", {}, v.replicas || "", `in queue ${v.queue}`)), String(v.priority), v.runs, v.frees,
        page.make("span", { title: v.reason, class: v.rules ? "by-rules" : "" }, v.rules || reasons[v.reason] || v.reason)]))) : null;
    const others = page.state.summary.notes.filter((n) => !(a.notes || []).includes(n)).length;
    const notes = a.notes || others ? page.make("ul", { class: "remarks" }, ...(a.notes || []).map((n) => page.make("li", {}, ...page.prose(n))), others
      ? page.make("li", {}, page.make("button", { type: "button", class: "link", onclick: page.showNotes }, others === 1 ? "1 note on the input" : `${others} notes on the input`)) : "") : null;
    const facts = page.make("div", { class: "outcome" }, verdict, retry, notes, victims);
    if (same) { box.querySelector(".outcome").replaceWith(facts); return; }
    box.dataset.workload = a.workload;
    const edit = page.later((e) => page.edit([e]));
    const controls = page.make("div", { class: "controls" },
      ...slider("Priority", a.priority, a.least, a.most, (v) => edit({ kind: "priority", node: a.workload, value: v })),
      ...a.podSets.flatMap((p) => slider(`Replicas of ${p.name}`, p.count, 0, Math.max(4, 2 * p.was, p.count),
        (v) => edit({ kind: "replicas", node: a.workload, field: p.name, value: v }))));
    box.replaceChildren(
      page.make("h2", {}, a.workload), page.make("p", { class: "sub" }, "in queue ",
        page.make("button", { type: "button", class: "link", onclick: () => page.showNode(false, a.queue) }, a.queue),
        ...a.podSets.map((p) => page.make("span", { class: "asks" }, `${p.count} × ${p.name}: ${p.asks}`))),
      facts, controls, page.make("div", { class: "steps", id: "steps" }));
  };

  const reasons = {
    InClusterQueue: "lower in its queue", InCohortReclamation: "reclaimed", InCohortReclaimWhileBorrowing: "reclaimed, borrowing",
    InClusterQueueTimeBased: "its time is over", InCohortFairSharing: "larger share",
  };

  // drawSteps draws the explanation. The step that was shown is shown again if there still is one.
  page.drawSteps = (list) => {
    steps = list;
    if (at >= steps.length) at = steps.length - 1;
    const box = page.byId("steps");
    if (!box) return;
    const go = async (to) => {
      at = Math.max(-1, Math.min(to, steps.length - 1));
      show();
      await page.showStep(steps[at]);
    };
    const items = steps.map((s, i) => page.make("li", {},
      page.make("button", { type: "button", class: "step-title", onclick: () => go(i === at ? -1 : i) }, s.title),
      page.make("div", { class: "lines" }, ...(s.ways ? s.ways.map((_, j) => page.make("p", {}, ...page.prose(s.lines[j]), " ",
        page.make("button", { type: "button", onclick: () => page.take(j) }, "Try it"))) : []), ...(s.lines || []).slice((s.ways || []).length).map((l) => page.make("p", {}, ...page.prose(l))))));
    const back = page.make("button", { type: "button", onclick: () => go(at - 1) }, "‹ Back");
    const next = page.make("button", { type: "button", onclick: () => go(at + 1) }, "Next ›");
    const count = page.make("span", { class: "count", role: "status" });
    const ol = page.make("ol", {}, ...items);
    const show = () => {
      items.forEach((e, i) => {
        e.classList.toggle("current", i === at);
        if (i === at) e.setAttribute("aria-current", "step"); else e.removeAttribute("aria-current");
      });
      back.disabled = at < 0;
      next.disabled = at >= steps.length - 1;
      count.textContent = at < 0 ? `${steps.length} steps` : `${at + 1} of ${steps.length}`;
      if (at >= 0 && !matchMedia("print").matches) items[at].scrollIntoView({ block: "nearest" });
    };
    box.replaceChildren(page.make("div", { class: "bar" }, page.make("h3", {}, "Step by step"), back, next, count), ol);
    box.onkeydown = (e) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (by) { e.preventDefault(); go(at + by); }
    };
    show();
  };
})();
