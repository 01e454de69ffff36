"use strict";
// A list of any length: only the rows in view are in the document. load(from, to) returns
// {total, rows}; draw(row) returns an element; open(row) is what a click or Enter does. height() is that of a row now. With fold(row, shut), rows fold:
// by a click on their mark, or the arrows to the left and right.
// A panel may open below a row: see dock.
page.list = (box, { height: heightNow, load, draw, open, fold, label, measure }) => {
  const inner = page.make("div", { class: "inner" });
  const grid = page.make("div", { class: "grid", role: fold ? "treegrid" : "grid", "aria-label": label, tabindex: "0" });
  inner.append(grid);
  box.append(inner);
  let total = 0, rows = new Map(), active = 0, printing = 0, height = heightNow();
  let panel = null, below = -1, extra = 0; // extra is the height of the panel below a row
  const margin = 6;

  const topOf = (index) => index * height + (index > below ? extra : 0);
  const indexAt = (y) => {
    const end = (below + 1) * height;
    return Math.floor(y < end ? y / height : y < end + extra ? below : (y - extra) / height);
  };
  const range = () => {
    if (printing) return [0, printing];
    return [Math.max(0, indexAt(box.scrollTop) - margin), indexAt(box.scrollTop + box.clientHeight) + 1 + margin];
  };
  const layout = () => {
    const none = total > 0 ? 0 : 34; // the word for an empty list
    extra = panel ? panel.offsetHeight + none : 0;
    inner.style.height = total * height + extra + "px";
    box.style.setProperty("--rows", total * height + "px"); // a short list is not taller, where the page scrolls
    box.style.setProperty("--opened", extra + "px");
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
  };
  const update = page.soon(async () => {
    const [from, to] = range();
    const part = await load(from, to);
    if (!part) return;
    total = part.total;
    rows = new Map(part.rows.map((r) => [r.index, r]));
    if (measure) measure(part);
    active = Math.max(0, Math.min(active, total - 1));
    below = Math.min(below, total - 1);
    render();
  });
  const show = (index) => {
    const top = topOf(index);
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
  };
  const move = async (to) => {
    active = Math.max(0, Math.min(to, total - 1));
    show(active);
    if (rows.has(active)) render(); else await update();
  };
  const resized = new ResizeObserver(() => { height = heightNow(); update(); });
  resized.observe(box);
  const grown = new ResizeObserver(layout);
  box.addEventListener("scroll", () => update(), { passive: true });
  grid.addEventListener("keydown", (e) => {
    const size = Math.max(1, Math.floor(box.clientHeight / height) - 1);
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
    toTop() { box.scrollTop = 0; active = 0; },
    reveal(index) { show(index); return update(); },
    // dock opens a panel below a row, below all if the row is not there, and brings both into view.
    dock(element, index) {
      const moved = element !== panel || below !== (index < 0 ? total - 1 : index);
      if (panel && panel !== element) grown.unobserve(panel);
      if (element.parentElement !== inner) inner.append(element);
      panel = element;
      below = index < 0 ? total - 1 : index;
      grown.observe(panel);
      render();
      if (!moved) return;
      active = Math.max(0, below);
      const top = topOf(active);
      if (extra + height > box.scrollTop + box.clientHeight - top || top < box.scrollTop) box.scrollTop = top;
      update();
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
    top: () => box.getBoundingClientRect().top + topOf(below) - box.scrollTop,
    async forPrint(most) { printing = most; await update(); },
  };
};
