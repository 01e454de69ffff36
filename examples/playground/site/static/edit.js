"use strict";
// Quotas and policies of a queue or cohort, edited in place; and the list of edits.
(() => {
  // later calls f with the last value, at most once at a time.
  page.later = (f) => page.soon(f);

  page.drawEdits = (tally) => {
    const box = page.byId("edits"), edits = page.state.summary.edits;
    box.hidden = edits.length === 0;
    page.byId("pending").classList.toggle("edited", edits.length > 0);
    page.byId("reset").hidden = edits.length === 0;
    if (!edits.length) return;
    const words = tally && !tally.left
      ? (tally.better + tally.worse + tally.other ? `${tally.better} better, ${tally.worse} worse, ${tally.other} otherwise` : "no answer changes") : "asking everybody…";
    box.replaceChildren(...edits.map((e) => page.make("span", { class: "edit" }, e.text, page.make("button", {
      type: "button", "aria-label": `Undo: ${e.text}`, title: "Undo", onclick: () => page.undo(e.key) }, "×"))),
    page.make("span", { class: "effect", role: "status" }, words));
  };

  const field = (value, label, commit, options) => {
    let input;
    if (options) {
      input = page.make("select", { "aria-label": label }, ...options.map((o) => page.make("option", { value: o }, o)));
      input.value = value;
    } else {
      input = page.make("input", { type: "text", value, "aria-label": label, placeholder: "none", spellcheck: "false", autocomplete: "off" });
    }
    input.dataset.said = input.value;
    input.addEventListener("change", () => { input.dataset.said = input.value; commit(input.value.trim()); });
    return input;
  };

  // isTyping reports whether a field of a box has the focus and a value that was not said yet.
  const isTyping = (box) => {
    const e = document.activeElement;
    if (!box.contains(e) || e.dataset.said === undefined || e.dataset.said === e.value) return false;
    e.addEventListener("blur", () => page.drawNode(), { once: true });
    return true;
  };

  // effect says what the changes do to the answer, where they are made.
  const effect = () => {
    const a = page.state.answer;
    if (!a || !a.before) return "";
    return page.make("p", { class: "sub", role: "status" }, `${a.workload}: `, page.badge(a.outcome), " with the changes, ", page.badge(a.before.outcome), " without");
  };

  let shown = null, docked = false;
  // showNode opens a queue or cohort below its row.
  page.showNode = async (cohort, name, focus = true) => {
    shown = { cohort, name };
    docked = false;
    await page.drawNode();
    if (focus && shown && !page.byId("node").contains(document.activeElement)) page.byId("node").focus({ preventScroll: true });
  };
  page.isShown = (cohort, name) => shown !== null && shown.cohort === cohort && shown.name === name;
  page.forgetNode = () => { shown = null; page.byId("node").hidden = true; page.undockNode(); };
  const close = () => { page.forgetNode(); page.focusRows(); };

  page.drawNode = async () => {
    const box = page.byId("node");
    if (!shown) { box.hidden = true; return; }
    const held = box.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    let n;
    try { n = await page.call("node", shown); } catch { page.forgetNode(); return; }
    if (docked && isTyping(box)) return; // what is typed is not drawn over: its end draws
    const quota = (q, f) => field(q[f], `${f} of ${q.flavor}/${q.resource}`, (value) =>
      page.edit([{ kind: "quota", node: n.name, cohort: n.cohort, flavor: q.flavor, resource: q.resource, field: f, value: value || (f === "nominal" ? "0" : "") }]));
    const share = (s, f) => field(s[f], `${f} of ${s.resource}`, (value) =>
      page.edit([{ kind: "share", node: n.name, resource: s.resource, field: f, value: value || (f === "overQuotaWeight" ? "0" : "none") }]));
    const over = (q) => !q.over ? q.room : page.byId("excess").hidden ? `${q.over} over`
      : page.make("button", { type: "button", class: "link", title: "Who has to leave", onclick: page.showExcess }, `${q.over} over`);
    box.hidden = false;
    box.setAttribute("aria-label", `${n.cohort ? "Cohort" : "Queue"} ${n.name}`);
    box.replaceChildren(
      page.make("div", { class: "bar" }, page.make("h2", {}, n.name),
        page.make("button", { type: "button", class: "close", "aria-label": "Close", onclick: close }, "×")),
      page.make("p", { class: "sub" }, n.cohort ? "cohort" : "queue", n.parent ? ` in cohort ${n.parent}` : "", n.inactive ? ", inactive" : ""),
      n.shares ? page.make("div", { class: "quotas" }, page.table(["share", "quota", "limit", "over quota weight", "fair share", "used", "over"],
        n.shares.map((s) => [s.resource, share(s, "quota"), share(s, "limit"), share(s, "overQuotaWeight"), s.fairShare, s.used, s.over || ""])))
      : n.quotas.length ? page.make("div", { class: "quotas" }, page.table(["quota", "nominal", "borrowing limit", "lending limit", "used", "room"],
        n.quotas.map((q) => [`${q.flavor}/${q.resource}`, quota(q, "nominal"), quota(q, "borrowingLimit"), quota(q, "lendingLimit"), q.used, over(q)]))) : page.make("p", { class: "hint" }, "It has no quota of its own."),
      n.policies.length ? page.make("div", { class: "policies" }, ...n.policies.map((p) => page.make("label", {}, page.make("span", {}, p.field),
        field(p.value, p.field, (value) => page.edit([{ kind: "policy", node: n.name, field: p.field, value: value || "none" }]), p.values)))) : "",
      effect(),
      n.cohort ? "" : page.make("h3", {}, n.running === 1 ? "1 workload runs" : `${n.running} workloads run`),
      n.workloads.length ? page.make("div", { class: "runs" }, page.table(["workload", "priority", "safe", "runs", "holds"],
        n.workloads.map((w) => [page.make("span", {}, page.swatch(w.colour), " ", w.id, w.victim ? page.make("b", { class: "yields" }, " yields") : "", w.leaves ? page.make("b", { class: "yields" }, " has to leave") : ""),
          field(String(w.priority), `priority of ${w.id}`, (value) => page.edit([{ kind: "priority", node: w.id, value }])), page.safeCell(w.id), w.runs, w.holds]))) : "",
      n.running > n.workloads.length ? page.make("p", { class: "hint" }, `and ${n.running - n.workloads.length} more`) : "");
    await page.dockNode(n.node, !docked);
    docked = true;
    if (held) for (const e of box.querySelectorAll("[aria-label]")) if (e.getAttribute("aria-label") === held) { e.focus(); break; }
  };
})();
