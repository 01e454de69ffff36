"use strict";
// Preemption rules: each can be switched off, and changed as JSON.
(() => {
  const template = JSON.stringify({ name: "new", rules: [{ name: "lower-yields", activationPolicy: { trigger: "Always" },
    candidateSelectors: [{ scope: "WithinClusterQueue", priority: { mode: "Boosted", comparison: "LessThan" } }] }] }, null, 2);

  // set makes an edit of the rules that a text holds. The page says what is wrong with it.
  const set = (text, name) => {
    let read;
    try { read = JSON.parse(text); } catch (e) { page.showError(`The rules are no JSON: ${e.message}`); return; }
    page.edit([{ kind: "rules", node: name || String(read.name || ""), value: JSON.stringify(read, null, 2) }]);
  };

  const editor = (label, text, name, ...more) => {
    const area = page.make("textarea", { "aria-label": label, spellcheck: "false", rows: String(Math.min(24, text.split("\n").length + 1)) });
    area.value = text;
    return page.make("details", { class: "json" }, page.make("summary", {}, label), area,
      page.make("div", { class: "bar" }, page.make("button", { type: "button", onclick: () => set(area.value, name) }, "Apply"), ...more));
  };

  const rule = (c, r) => {
    const box = page.make("input", { type: "checkbox" });
    box.checked = r.on;
    box.addEventListener("change", () => page.edit([{ kind: "rule", node: c.name, field: r.name, value: box.checked ? "on" : "off" }]));
    return page.make("label", { class: "check" }, box, ` ${r.name} `, page.make("small", {}, r.text));
  };

  page.drawRules = async () => {
    const list = await page.call("rules", {});
    const box = page.byId("rules");
    box.hidden = false;
    page.byId("rules-title").textContent = !list.length ? "Preemption rules: none" : list.length === 1 ? "Preemption rules: 1 config" : `Preemption rules: ${list.length} configs`;
    page.byId("rules-list").replaceChildren(...list.map((c) => page.make("div", { class: "config" },
      page.make("h3", {}, c.name), page.make("p", { class: "sub" }, c.queues.length ? `for queues ${c.queues.join(", ")}` : "no queue refers to it: choose it among the policies of a queue"),
      ...c.rules.map((r) => rule(c, r)),
      editor(`${c.name} as JSON`, c.json, c.name, page.make("button", { type: "button", onclick: () => page.edit([{ kind: "rules", node: c.name, value: "" }]) }, "Remove")))),
    editor("New rules as JSON", template, ""));
  };
})();
