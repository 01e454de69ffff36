"use strict";
// The page: what is drawn when.
(() => {
  page.state = { summary: null, column: null, generation: 0, outcome: "", folded: [] };
  const state = page.state;
  const value = (id) => page.byId(id).value, checked = (id) => page.byId(id).checked;
  const isAfter = () => { const r = document.querySelector("input[name=when][value=after]"); return r.checked && !r.disabled; };
  const ready = () => state.summary !== null;

  const narrow = matchMedia("(max-width: 860px)"); // there names and facts have lines of their own
  let legend = [];
  // What the lists are asked for.
  const part = () => ({ tree: checked("only"), filter: value("find-queue"), folded: state.folded });
  const choice = () => ({ filter: value("find"), outcome: state.outcome, order: value("order"), changed: checked("changed") && state.summary.edits.length > 0 });
  const rows = page.list(page.byId("rows"), {
    height: () => narrow.matches ? 58 : 34, first: () => Math.max(8, Math.floor((innerHeight - 560) / 34)), label: "Quota tree", draw: (r) => page.drawRow(r),
    load: (from, to) => ready() && page.call("rows", { column: state.column, after: isAfter(), own: !checked("one"), ...part(), from, to }),
    open: (r) => page.isShown(r.cohort, r.name) ? page.forgetNode() : page.showNode(r.cohort, r.name, false),
    fold: async (r, shut) => {
      state.folded = shut ? [...state.folded, r.name] : state.folded.filter((name) => name !== r.name);
      await rows.update();
      page.drawNode();
    },
    measure: (part) => {
      const most = Math.max(8, ...part.rows.map((r) => r.used.length + r.nominal.length + 3));
      page.byId("rows").style.setProperty("--numbers", most + "ch");
      legend = part.kinds;
      drawLegend();
    },
  });
  const pending = page.list(page.byId("pending"), {
    height: () => narrow.matches ? 72 : 30, first: () => 10, label: "Waiting workloads", draw: (r) => page.drawPending(r),
    load: (from, to) => ready() && page.call("pending", { ...choice(), from, to }),
    open: (r) => select(r.id),
    measure: (part) => page.byId("pending").style.setProperty("--priority", Math.max(5, ...part.rows.map((r) => String(r.priority).length)) + 3 + "ch"),
  });

  // The kinds of bars that there are; at a step, those of the step.
  function drawLegend() {
    const step = page.step(), of = step ? legend.filter((k) => k !== "yields" && k !== "has to leave") : legend;
    page.drawLegend(step ? [...of, ...["taken", "may yield", "is kept"].filter((k, i) => [step.taken, step.mayYield, step.kept][i].size)] : of, legend.length ? state.summary.legend : []);
  }

  // dockAnswer puts the answer below its workload where the page is narrow, else beside the lists.
  const dockAnswer = async () => {
    const answer = page.byId("answer"), inside = narrow.matches && state.summary.selected !== "";
    if (inside) {
      pending.dock(answer, await page.call("place", choice()));
    } else if (answer.parentElement !== document.querySelector("main")) {
      document.querySelector("main").append(answer);
      pending.undock();
    }
  };
  const atTop = page.stick(page.byId("answer"));
  narrow.addEventListener("change", () => { if (ready()) dockAnswer(); });

  // toView scrolls so that an opened row is seen with what opened.
  const toView = (list) => {
    const [top, end] = list.opened();
    if (top < 0 || (narrow.matches ? top > innerHeight / 2 : end > innerHeight)) scrollBy({ top: top - 8 });
  };
  page.dockNode = async (node, opened) => {
    const place = () => page.call("index", { name: node, ...part() });
    let index = await place();
    if (index < 0 && opened) {
      page.byId("find-queue").value = "";
      page.byId("only").checked = false;
      state.folded = [];
      await rows.update();
      index = await place();
    }
    rows.dock(page.byId("node"), index, opened);
    await rows.update();
    if (opened) toView(rows);
  };
  page.undockNode = () => { rows.undock(); document.querySelector("main").append(page.byId("node")); };
  page.focusRows = () => rows.focus();
  page.showNotes = () => {
    const notes = page.byId("notes");
    notes.open = true;
    notes.scrollIntoView({ block: "nearest" });
    notes.querySelector("summary").focus({ preventScroll: true });
  };

  // refresh draws everything again: first what is asked, then what takes longer. A newer
  // refresh ends an older one.
  async function refresh({ opened = false, selected = false, edited = false } = {}) {
    const mine = ++state.generation;
    const current = () => mine === state.generation;
    const [summary, answer, settlement] = await Promise.all([page.call("summary"), page.call("ask"), page.call("settlement")]);
    if (!current()) return;
    state.summary = summary;
    state.answer = answer;
    if (opened || selected) state.column = answer ? answer.column : Math.max(0, Math.min(state.column || 0, summary.columns.length - 1));
    drawSummary(summary, settlement);
    page.drawAnswer(answer);
    drawJump(answer);
    page.drawTime(summary);
    await Promise.all([rows.update(), pending.update(), page.drawRules()]);
    await Promise.all([page.drawNode(), dockAnswer()]);
    if (selected && narrow.matches) toView(pending);
    else if (opened || selected) atTop();
    page.painted = performance.now();
    if (!current()) return;
    page.drawSteps(await page.call("steps"));
    rows.render();
    if (!current()) return;
    if (opened || selected || edited) page.drawTimes(await page.call("times"), state.summary);
    page.explained = performance.now();
    for (let left = 1; left > 0 && current();) {
      const tally = await page.call("work", { most: 20 });
      if (!current()) return;
      page.drawTally(tally);
      left = tally.left;
      if (state.outcome || value("order") === "answer") await pending.update(); // more is known
    }
    if (current() && checked("changed")) await pending.update();
    page.settled = mine;
  }

  function drawSummary(s, settlement) {
    const plural = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;
    page.byId("about").replaceChildren(page.make("b", {}, s.name || "a cluster"), `: ${plural(s.queues, "queue")} in ${plural(s.cohorts, "cohort")}, ${plural(s.running, "workload")} running, ${s.pending.toLocaleString("en")} waiting`);
    document.title = `${s.name || "cluster"}: who must yield?`;
    const column = page.byId("column");
    if (column.options.length !== s.columns.length || s.columns.some((c, i) => column.options[i].textContent !== c)) {
      column.replaceChildren(...s.columns.map((c, i) => page.make("option", { value: String(i) }, c)));
    }
    column.value = String(state.column);
    page.byId("fair").checked = s.fair;
    page.drawExcess(settlement);
    page.drawEdits(null);
    const notes = page.byId("notes");
    notes.hidden = s.notes.length === 0;
    notes.querySelector("summary").textContent = s.notes.length === 1 ? "1 note" : `${s.notes.length} notes`;
    notes.querySelector("ul").replaceChildren(...s.notes.slice(0, 100).map((n) => page.make("li", {}, n)));
  }

  // drawJump leads a narrow page to the answer, which is far down.
  function drawJump(a) {
    const box = page.byId("jump");
    box.hidden = !a;
    if (a) box.replaceChildren(page.badge(a.outcome), " ", page.make("a", { href: "#answer", onclick: (e) => {
      e.preventDefault();
      page.byId("answer").scrollIntoView();
      page.byId("answer").focus({ preventScroll: true });
    } }, a.workload));
  }

  // change makes a call that changes the model, and draws what follows.
  async function change(name, args, what) {
    try {
      await page.call(name, args);
      page.showError("");
    } catch (e) {
      page.showError(e.message);
    }
    refresh(what).catch((e) => page.showError(e.message));
  }

  // choose lists the workloads with one answer; empty: all.
  page.choose = async (outcome) => {
    state.outcome = outcome;
    page.drawTally(await page.call("work", { most: 0 }));
    pending.toTop();
    await pending.update();
    dockAnswer();
  };
  const select = (id, went = false) => {
    if (!went) history.pushState({ selected: id }, "");
    page.forgetSteps();
    document.querySelector("input[name=when][value=before]").checked = true;
    page.byId("answer").dataset.workload = "";
    document.body.style.minHeight = scrollY + innerHeight + "px"; // nothing moves if the answer is shorter
    return change("select", { id }, { selected: true });
  };
  // askNew asks about a new workload, as the form says.
  async function askNew() {
    const number = (id) => Number(value(id));
    try {
      await page.call("add", { queue: value("new-queue"), each: value("new-each"), replicas: number("new-replicas"), priority: number("new-priority") });
      page.showError("");
    } catch (e) {
      page.showError(e.message);
      return;
    }
    page.forgetSteps();
    document.querySelector("input[name=when][value=before]").checked = true;
    page.byId("answer").dataset.workload = "";
    await refresh({ selected: true, edited: true });
    page.byId("answer").scrollIntoView({ block: "nearest" });
    page.byId("answer").focus({ preventScroll: true });
  }
  const mostQueues = 1000; // in the list of suggestions

  page.select = select;
  page.edit = (edits) => change("set", { edits }, { edited: true });
  page.undo = (key) => { page.byId("answer").dataset.workload = ""; return change("unset", { key }, { edited: true }); };
  page.take = (way) => { page.byId("answer").dataset.workload = ""; return change("way", { way }, { edited: true }); };
  page.moveTo = page.soon((to) => change("move", to, {}));
  page.showStep = async (step) => {
    rows.render();
    drawLegend();
    if (!step || !step.node) return;
    const index = await page.call("index", { name: step.node, ...part() });
    if (index >= 0) await rows.reveal(index);
  };

  // open reads a file or blob in place of what is shown.
  page.open = async (file, name) => {
    page.showError("");
    page.progress("Reading", 0);
    state.generation++; // what is under way is of no use
    try {
      await page.call("open", { file: file && await page.unzipped(file), name, now: page.now() });
    } catch (e) {
      page.showError(`${name ? name + ": " : ""}${e.message}`);
      page.progress(null);
      if (ready()) refresh();
      return;
    }
    page.forgetSteps();
    page.forgetNode();
    page.byId("answer").dataset.workload = "";
    for (const id of ["find", "find-queue"]) page.byId(id).value = "";
    page.byId("changed").checked = page.byId("only").checked = page.byId("one").checked = false;
    page.byId("order").value = state.outcome = "";
    state.folded = [];
    rows.toTop();
    pending.toTop();
    await refresh({ opened: true });
    history.replaceState({ selected: state.summary.selected }, "");
    page.progress(null);
  };

  function listen() {
    page.byId("file").addEventListener("change", async (e) => { const files = [...e.target.files]; e.target.value = ""; await page.openFiles(files); });
    page.byId("column").addEventListener("change", () => { state.column = Number(value("column")); rows.update(); });
    for (const r of document.querySelectorAll("input[name=when]")) r.addEventListener("change", () => { page.forgetStep(); drawLegend(); rows.update(); });
    page.byId("only").addEventListener("change", () => { rows.toTop(); rows.update(); });
    page.byId("one").addEventListener("change", () => rows.update());
    page.byId("order").addEventListener("change", async () => { pending.toTop(); await pending.update(); dockAnswer(); });
    addEventListener("popstate", (e) => { if (ready() && e.state) select(e.state.selected, true); });
    addEventListener("keydown", (e) => { // what was opened last closes first
      if (e.key !== "Escape" || e.defaultPrevented || !ready()) return;
      if (!page.byId("node").hidden) { page.forgetNode(); rows.focus(); }
      else if (state.outcome) page.choose("");
      else if (state.summary.selected) { select(""); pending.focus(); }
    });
    page.byId("changed").addEventListener("change", () => { pending.toTop(); pending.update(); dockAnswer(); });
    page.byId("find").addEventListener("input", async () => { pending.toTop(); await pending.update(); dockAnswer(); });
    page.byId("find-queue").addEventListener("input", async () => { rows.toTop(); await rows.update(); page.drawNode(); });
    page.byId("fair").addEventListener("change", () => page.edit([{ kind: "sharing", value: checked("fair") ? "fair" : "classical" }]));
    page.byId("reset").addEventListener("click", () => page.undo(""));
    page.byId("new-form").addEventListener("submit", (e) => { e.preventDefault(); askNew().catch((e) => page.showError(e.message)); });
    page.byId("new").addEventListener("toggle", async (e) => {
      if (!e.target.open || !ready()) return;
      const queues = await page.call("queues");
      page.byId("new-queues").replaceChildren(...queues.slice(0, mostQueues).map((q) => page.make("option", { value: q })));
    });
    let depth = 0;
    addEventListener("dragenter", (e) => { e.preventDefault(); depth++; page.byId("drop").hidden = false; });
    addEventListener("dragover", (e) => e.preventDefault());
    addEventListener("dragleave", () => { if (--depth <= 0) { depth = 0; page.byId("drop").hidden = true; } });
    addEventListener("drop", (e) => {
      e.preventDefault();
      depth = 0;
      page.byId("drop").hidden = true;
      page.openFiles([...e.dataTransfer.files]);
    });
    addEventListener("hashchange", async () => {
      try { const s = await page.linked(); if (s) { page.drawClusters(null); await page.open(s, "a link"); }; } catch (e) { page.showError(e.message); }
    });
    const printed = 200; // rows: some pages
    addEventListener("beforeprint", () => { rows.forPrint(printed); pending.forPrint(printed); });
    addEventListener("afterprint", () => { rows.forPrint(0); pending.forPrint(0); });
  }

  async function start() {
    page.progress("Loading");
    page.addPatterns();
    if (narrow.matches) page.byId("excess").querySelector("details").open = false;
    listen();
    let linked = null, broken = "";
    try { linked = await page.linked(); } catch (e) { broken = e.message; }
    await page.startEngine();
    const report = await page.embeddedDocument();
    await page.open(linked || report || null, linked ? "a link" : "");
    if (broken) page.showError(broken);
    page.started = true;
  }
  start().catch((e) => { page.progress(null); page.showError(`The page did not start: ${e.message}`); });
})();
