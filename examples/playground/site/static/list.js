"use strict";
// A list of any length: only the rows in view are in the document, and the page is what scrolls. load(from, to) returns
// {total, rows}; draw(row) returns an element; open(row) is what a click or Enter does. height() is that of a row now. With fold(row, shut), rows fold:
// by a click on their mark, or the arrows to the left and right.
// first() rows are shown at first, and a button for more below them. A panel may open below a row: see dock.
page.list = (box, { height: heightNow, first, load, draw, open, fold, label, measure }) => {
  const inner = page.make("div", { class: "inner" });
  const grid = page.make("div", { class: "grid", role: fold ? "treegrid" : "grid", "aria-label": label, tabindex: "0" });
  const further = page.make("button", { type: "button", class: "further", onclick: () => { most = shown() + step; update(); } });
  inner.append(grid);
  box.append(inner, further);
  let total = 0, rows = new Map(), active = 0, printing = 0, height = heightNow();
  let panel = null, below = -1, extra = 0; // extra is the height of the panel below a row
  let most = 0; // rows that were asked for
  const margin = 6, step = 100;
  const shown = () => {
    const limit = Math.max(most, first());
    return total <= limit * 1.5 ? total : limit; // no button for a few rows
  };

  const topOf = (index) => index * height + (index > below ? extra : 0);
  const indexAt = (y) => {
    const end = (below + 1) * height;
    return Math.floor(y < end ? y / height : y < end + extra ? below : (y - extra) / height);
  };
  const range = () => {
    if (printing) return [0, printing];
    const top = inner.getBoundingClientRect().top, limit = Math.ceil(Math.max(most, first()) * 1.5);
    const at = (y) => Math.max(0, Math.min(indexAt(y - top), limit));
    return [Math.max(0, at(0) - margin), Math.min(limit, at(innerHeight) + 1 + margin)];
  };
  const layout = () => {
    const none = total > 0 ? 0 : 34; // the word for an empty list
    extra = panel ? panel.offsetHeight + none : 0;
    inner.style.height = shown() * height + extra + "px";
    if (panel) panel.style.transform = `translateY(${(below + 1) * height + none}px)`;
    for (const e of grid.children) e.style.transform = `translateY(${topOf(Number(e.dataset.index))}px)`;
  };
  const render = () => {
    const elements = [];
    for (const row of rows.values()) {
      const e = draw(row);
      e.classList.add("row");
      e.setAttribute("role", "row");
      e.setAttribute("aria-rowindex", row.index + 1);
      e.id = `${box.id}-${row.index}`;
      e.dataset.index = row.index;
      e.classList.toggle("active", row.index === active);
      e.classList.toggle("opened", panel !== null && row.index === below);
      e.style.height = height + "px";
      elements.push(e);
    }
    grid.replaceChildren(...elements);
    layout();
    grid.setAttribute("aria-rowcount", total);
    if (rows.has(active)) grid.setAttribute("aria-activedescendant", `${box.id}-${active}`);
    else grid.removeAttribute("aria-activedescendant");
    box.classList.toggle("empty", total === 0);
    further.hidden = total === shown();
    further.textContent = total - shown() > step ? `Show ${step} more of ${total.toLocaleString("en")}` : `Show all ${total.toLocaleString("en")}`;
  };
  const update = page.soon(async () => {
    const [from, to] = range();
    const part = await load(from, to);
    if (!part) return;
    total = part.total;
    rows = new Map(part.rows.filter((r) => printing || r.index < shown()).map((r) => [r.index, r]));
    if (measure) measure(part);
    active = Math.max(0, Math.min(active, total - 1));
    below = Math.min(below, shown() - 1);
    render();
  });
  // show brings a row into view.
  const show = (index) => {
    most = Math.max(most, index + 1);
    layout();
    const top = inner.getBoundingClientRect().top + topOf(index);
    if (top < 0) scrollBy({ top });
    else if (top + height > innerHeight) scrollBy({ top: top + height - innerHeight });
  };
  const move = async (to) => {
    active = Math.max(0, Math.min(to, total - 1));
    show(active);
    if (rows.has(active)) render(); else await update();
  };
  const resized = new ResizeObserver(() => { height = heightNow(); update(); });
  resized.observe(box);
  const grown = new ResizeObserver(layout);
  for (const e of ["scroll", "resize"]) addEventListener(e, () => update(), { passive: true });
  grid.addEventListener("keydown", (e) => {
    const size = Math.max(1, Math.floor(innerHeight / height) - 1);
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + size, PageUp: active - size, Home: 0, End: total - 1 }[e.key];
    if (to !== undefined) { e.preventDefault(); move(to); }
    const row = rows.get(active), folded = { ArrowLeft: false, ArrowRight: true }[e.key];
    if (fold && row && row.folds && folded !== undefined && Boolean(row.folded) === folded) { e.preventDefault(); fold(row, !folded); }
    if ((e.key === "Enter" || e.key === " ") && rows.has(active)) { e.preventDefault(); open(rows.get(active)); }
  });
  grid.addEventListener("click", (e) => {
    const row = e.target.closest(".row");
    if (!row) return;
    active = Number(row.dataset.index);
    render();
    if (fold && e.target.closest(".fold")) fold(rows.get(active), !rows.get(active).folded);
    else open(rows.get(active));
  });
  return {
    update, render,
    toTop() { most = active = 0; },
    reveal(index) { show(index); return update(); },
    // dock opens a panel below a row, before all if the row is not shown; with extend the list is shown up to it.
    dock(element, index, extend) {
      if (extend) most = Math.max(most, index + 1);
      if (index >= shown()) index = -1;
      if (panel && panel !== element) grown.unobserve(panel);
      if (element.parentElement !== inner) inner.append(element);
      panel = element;
      if (below !== index) active = Math.max(0, index);
      below = index;
      grown.observe(panel);
      render();
    },
    // undock forgets the panel; the caller puts it elsewhere.
    undock() {
      if (!panel) return;
      grown.unobserve(panel);
      panel.style.transform = "";
      panel = null;
      below = -1;
      render();
    },
    isDocked: (index) => panel !== null && below === index,
    focus: () => grid.focus({ preventScroll: true }),
    // opened is where the row with the panel begins and ends in the window.
    opened() {
      const top = inner.getBoundingClientRect().top + topOf(below);
      return [top, top + height + extra];
    },
    async forPrint(most) { printing = most; await update(); },
  };
};
