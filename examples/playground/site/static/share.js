"use strict";
// The state in a link: in the fragment alone, which no browser sends anywhere.
(() => {
  const mark = "#state=";
  const most = 64 << 20; // bytes of a state that a link may unpack to
  const long = 30000; // characters: other programs cut longer links

  const squeeze = (blob) => new Response(blob.stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer();

  async function unpack(data) {
    const reader = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(parts);
      if ((size += value.length) > most) throw new Error("it is too large");
      parts.push(value);
    }
  }

  const encode = (data) => {
    const bytes = new Uint8Array(data);
    let text = "";
    for (let i = 0; i < bytes.length; i += 1 << 15) text += String.fromCharCode(...bytes.subarray(i, i + (1 << 15)));
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  };
  const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

  const saved = async () => new Blob([await page.call("document")], { type: "application/json" });

  page.link = async () => location.href.split("#")[0] + mark + encode(await squeeze(await saved()));

  // linked returns the state in the link, null if it has none.
  page.linked = async () => {
    if (!location.hash.startsWith(mark)) return null;
    try {
      return await unpack(decode(location.hash.slice(mark.length)));
    } catch (e) {
      throw new Error("The state in the link cannot be read: it was cut or changed.");
    }
  };

  page.byId("share").addEventListener("click", async (e) => {
    const button = e.currentTarget, link = await page.link();
    if (link.length > long * 10) { page.showError(`The link would have ${link.length} characters: save the page instead and pass on the file.`); return; }
    history.replaceState(null, "", link);
    let words = "In the address bar";
    try { await navigator.clipboard.writeText(link); words = "Copied"; } catch { /* the address bar has it */ }
    button.textContent = link.length > long ? `${words}, but it is long` : words;
    setTimeout(() => { button.textContent = "Copy link"; }, 2000);
  });

  page.byId("save").addEventListener("click", async () => {
    const url = URL.createObjectURL(await saved());
    const a = page.make("a", { href: url, download: "cede-page.json" });
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
})();
