// Run in a page by browser_test.py: what a reader would stumble over.
(() => {
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    const wide = [...document.body.querySelectorAll("*")].filter((one) => {
      if (one.closest(".scroll, pre")) return false;
      return one.getBoundingClientRect().right > innerWidth + 0.5;
    }).slice(0, 5).map((one) => one.outerHTML.slice(0, 120));
    problems.push(`wider than the window: ${root.scrollWidth} > ${innerWidth}: ${wide.join(" | ")}`);
  }
  for (const svg of document.querySelectorAll("svg")) {
    if (!svg.closest("svg svg") && svg.getAttribute("aria-hidden") !== "true" && !svg.getAttribute("aria-label")) {
      if (!(svg.parentNode.closest && svg.parentNode.closest("svg"))) problems.push("an SVG without words: " + svg.outerHTML.slice(0, 100));
    }
  }
  for (const table of document.querySelectorAll("table")) {
    if (!table.caption || !table.caption.textContent) problems.push("a table without a caption");
    const columns = table.tHead.rows[0].cells.length;
    for (const row of table.tBodies[0].rows) {
      if (row.cells.length !== columns) problems.push(`a row of ${row.cells.length} cells in ${table.caption.textContent} (${columns})`);
    }
  }
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  if (new Set(ids).size !== ids.length) problems.push("an id stands twice");
  for (const link of document.querySelectorAll("a[href]")) {
    if (!document.getElementById(link.getAttribute("href").slice(1))) problems.push("a link to nowhere: " + link.outerHTML);
  }

  // Contrast of text against what lies behind it: 4.5, as WCAG 2 asks of text of this size.
  const parse = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length && (color.length < 4 || color[3] > 0.99)) return color;
    }
    return parse(getComputedStyle(document.body).backgroundColor);
  };
  const seen = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let count = 0; walker.nextNode() && count < 4000; ++count) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || parent.closest("script, style, title")) continue;
    const style = getComputedStyle(parent);
    const ink = parse(parent.closest("svg") ? style.fill : style.color), behind = ground(parent.closest("svg") ? parent.closest("figure") || parent.parentElement : parent);
    const key = ink + "/" + behind;
    if (seen.has(key)) continue;
    const [a, b] = [luminance(ink), luminance(behind)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen.set(key, ratio);
    if (ratio < 4.5) problems.push(`contrast ${ratio.toFixed(2)} of "${walker.currentNode.data.trim().slice(0, 40)}" (${key})`);
  }
  return problems;
})()
