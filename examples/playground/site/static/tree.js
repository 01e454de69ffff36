"use strict";
// The quota tree: a bar and the running workloads of each queue, on one scale.
(() => {
  const percent = (x) => (Math.max(0, Math.min(x, 1)) * 100).toFixed(3) + "%";
  const rect = (from, to, y, height, name) => page.shape("rect", { x: percent(from), width: percent(Math.min(to, 1) - Math.max(0, Math.min(from, 1))), y, height, class: name });

  function bar(svg, r, y, height) {
    svg.append(rect(0, r.nominalTo, y, height, "nominal"));
    svg.append(rect(0, Math.min(r.usedTo, r.nominalTo), y, height, "used"));
    if (r.usedTo > r.nominalTo) {
      svg.append(rect(r.nominalTo, r.usedTo, y, height, "borrowed"));
      svg.append(rect(r.nominalTo, r.usedTo, y, height, "borrowed-hatch"));
    }
    if (r.reservedTo) svg.append(rect(0, r.reservedTo, y, height, "reserved"));
    if (r.lentFrom && r.lentFrom < r.nominalTo) svg.append(rect(r.lentFrom, r.nominalTo, y, height, "lent"));
    if (r.roomTo && r.roomTo > r.usedTo) svg.append(rect(r.usedTo, r.roomTo, y + height / 2 - 1, 2, "room"));
    if (r.roomTo > 1) svg.append(page.shape("path", { d: "", class: "none" }));
  }

  function blocks(svg, r, y, height) {
    const step = page.step();
    for (const b of r.blocks || []) {
      if (b.from >= 1) break;
      let mark = b.mark || "";
      if (step && mark !== "new" && mark !== "gone") {
        mark = step.taken.has(b.id) ? "victim" : step.mayYield.has(b.id) ? "may" : step.kept.has(b.id) ? "kept" : mark === "victim" ? "" : mark;
      }
      const leaves = b.leaves && !step;
      const block = rect(b.from, b.to, y, height, `block p${b.colour} ${mark}${leaves ? " leaves" : ""}`);
      block.dataset.tip = b.text + ({ victim: step ? ": taken" : ": yields", gone: ": has yielded", new: ": admitted", leaving: ": was told to stop", may: ": may yield", kept: ": is kept" }[mark] || "") + (leaves ? ": has to leave" : "");
      if (mark !== "new" && mark !== "gone") block.dataset.id = b.id;
      svg.append(block);
      if (mark === "victim") svg.append(rect(b.from, b.to, y, height, "victim-hatch"));
      if (leaves) svg.append(rect(b.from, b.to, y, height, "leaves-hatch"));
    }
  }

  page.drawRow = (r) => {
    const step = page.step();
    const svg = page.shape("svg", { class: "graph", "aria-hidden": "true", focusable: "false" });
    if (r.cohort) bar(svg, r, 11, 10);
    else { bar(svg, r, 4, 7); blocks(svg, r, 14, 15); }
    const facts = [];
    if (r.over) facts.push(page.make("span", { class: "fact over" }, `${r.over} over`));
    if (r.borrowed) facts.push(page.make("span", { class: "fact borrows" }, `borrows ${r.borrowed}`));
    if (r.lent) facts.push(page.make("span", { class: "fact lends" }, `lends ${r.lent}`));
    if (r.room) facts.push(page.make("span", { class: "fact has-room" }, `room ${r.room}`));
    if (r.more) facts.push(page.make("span", { class: "fact" }, `${r.more} more run`));
    if (r.inactive) facts.push(page.make("span", { class: "fact over" }, "inactive"));
    const fold = r.folds ? page.make("span", { class: "fold", "aria-hidden": "true", title: r.folded ? "Unfold" : "Fold" }, r.folded ? "▸" : "▾") : null;
    const name = page.make("div", { class: "name", role: "gridcell", title: r.name }, fold, ...page.name(r.name));
    name.style.paddingLeft = 8 + Math.min(r.depth, 8) * 14 + "px";
    const here = step && step.node === r.node;
    const e = page.make("div", {
      class: ["node-row", r.cohort && "is-cohort", r.asks && "asker", r.edited && "edited", r.over && "is-over", (here || r.short) && "here"].filter(Boolean).join(" "),
      "aria-level": String(r.depth + 1), ...(r.folds ? { "aria-expanded": String(!r.folded) } : {}),
      "aria-label": r.words + (r.asks ? ", the workload waits here" : ""),
    }, name, page.make("div", { class: "drawing", role: "gridcell" }),
      page.make("div", { class: "number", role: "gridcell" }, page.make("b", {}, r.used), ` / ${r.nominal}`),
      page.make("div", { class: "facts", role: "gridcell" }, ...facts));
    e.children[1].append(svg);
    return e;
  };

  // The patterns are in the document once.
  page.addPatterns = () => {
    const svg = page.shape("svg", { width: 0, height: 0, class: "patterns", "aria-hidden": "true" });
    const defs = page.shape("defs", {});
    for (const [id, turn] of [["hatch-victim", 45], ["hatch-leaves", -45], ["hatch-borrowed", 45], ["hatch-lent", -45], ["hatch-reserved", 0]]) {
      const pattern = page.shape("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${turn})` });
      pattern.append(page.shape("rect", { width: 2, height: 5, class: id }));
      defs.append(pattern);
    }
    svg.append(defs);
    document.body.append(svg);
  };

  const keys = { quota: ["nominal"], used: ["nominal", "used"], reserved: ["reserved"], borrowed: ["borrowed", "borrowed-hatch"], lent: ["nominal", "lent"], room: ["room"],
    yields: ["block p3 victim", "victim-hatch"], "has to leave": ["block p3 leaves", "leaves-hatch"], "was told to stop": ["block p3 leaving"], gone: ["block gone"], admitted: ["block new"],
    taken: ["block p3 victim", "victim-hatch"], "may yield": ["block p3 may"], "is kept": ["block p3 kept"], short: ["here"] };

  // drawLegend explains the kinds of bars that there are, and the colours.
  page.drawLegend = (kinds, ranges) => {
    const key = (name, text) => {
      const svg = page.shape("svg", { width: 18, height: 10, "aria-hidden": "true" });
      for (const c of name) svg.append(page.shape("rect", { x: 1, y: c === "room" ? 4 : 1, width: 16, height: c === "room" ? 2 : 8, class: c }));
      return page.make("span", { class: "key" }, svg, text);
    };
    page.byId("legend").replaceChildren(...kinds.map((k) => key(keys[k], k === "short" ? "too little is free" : k)),
      ...(ranges.length ? [page.make("span", { class: "key" }, "priority"), ...ranges.map((r) => key([`block p${r.colour}`], r.text))] : []));
  };

  addEventListener("pointermove", (e) => {
    const tip = e.target instanceof Element && e.target.dataset ? e.target.dataset.tip : "";
    page.tip(tip, e.clientX, e.clientY);
    page.sayOver(e.target, e.clientX, e.clientY);
  }, { passive: true });
})();
