"use strict";
// A list of any length: only the rows in view are in the document. load(from, to) returns
// {total, rows}; draw(row) returns an element; open(row) is what a click or Enter does. height() is that of a row now.
page.list = (box, { height: heightNow, load, draw, open, label }) => {
  const inner = page.make("div", { class: "inner", role: "presentation" });
  box.setAttribute("role", "grid");
  box.setAttribute("aria-label", label);
  box.tabIndex = 0;
  box.append(inner);
  let total = 0, rows = new Map(), active = 0, printing = 0, height = heightNow();
  const margin = 6;

  const range = () => {
    if (printing) return [0, printing];
    const first = Math.floor(box.scrollTop / height);
    return [Math.max(0, first - margin), first + Math.ceil(box.clientHeight / height) + margin];
  };
  const place = (e, index) => { e.style.transform = `translateY(${index * height}px)`; };
  const render = () => {
    inner.style.height = total * height + "px";
    box.style.setProperty("--rows", total * height + "px"); // a short list is not taller, where the page scrolls
    const elements = [];
    for (const row of rows.values()) {
      const e = draw(row);
      e.classList.add("row");
      e.setAttribute("role", "row");
      e.setAttribute("aria-rowindex", row.index + 1);
      e.id = `${box.id}-${row.index}`;
      e.dataset.index = row.index;
      e.classList.toggle("active", row.index === active);
      e.style.height = height + "px";
      place(e, row.index);
      elements.push(e);
    }
    inner.replaceChildren(...elements);
    box.setAttribute("aria-rowcount", total);
    if (rows.has(active)) box.setAttribute("aria-activedescendant", `${box.id}-${active}`);
    else box.removeAttribute("aria-activedescendant");
    box.classList.toggle("empty", total === 0);
  };
  const update = page.soon(async () => {
    const [from, to] = range();
    const part = await load(from, to);
    if (!part) return;
    total = part.total;
    rows = new Map(part.rows.map((r) => [r.index, r]));
    active = Math.max(0, Math.min(active, total - 1));
    render();
  });
  const show = (index) => {
    const top = index * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
  };
  const move = async (to) => {
    active = Math.max(0, Math.min(to, total - 1));
    show(active);
    if (rows.has(active)) render(); else await update();
  };
  box.addEventListener("scroll", () => update(), { passive: true });
  new ResizeObserver(() => { height = heightNow(); update(); }).observe(box);
  box.addEventListener("keydown", (e) => {
    const size = Math.max(1, Math.floor(box.clientHeight / height) - 1);
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + size, PageUp: active - size, Home: 0, End: total - 1 }[e.key];
    if (to !== undefined) { e.preventDefault(); move(to); }
    if ((e.key === "Enter" || e.key === " ") && rows.has(active)) { e.preventDefault(); open(rows.get(active)); }
  });
  box.addEventListener("click", (e) => {
    const row = e.target.closest(".row");
    if (!row) return;
    active = Number(row.dataset.index);
    render();
    open(rows.get(active));
  });
  return {
    update, render,
    toTop() { box.scrollTop = 0; active = 0; },
    reveal(index) { show(index); return update(); },
    async forPrint(most) { printing = most; await update(); },
  };
};
