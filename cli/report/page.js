
"use strict";
(() => {
  document.documentElement.classList.add("js");

  // Plots: what is nearest to the pointer tells what it is.
  const tipOf = (mark) => {
    const title = mark.parentNode.dataset.title || "";
    const tip = mark.dataset.tip || "";
    return title && tip ? title + " — " + tip : title || tip;
  };
  const prepare = (figure) => {
    const area = figure.querySelector("svg.area");
    if (!area) return;
    for (const title of area.querySelectorAll("g > title")) {
      if (!title.parentNode.dataset.tip) title.parentNode.dataset.title = title.textContent;
      title.remove();
    }
    const marks = [...area.querySelectorAll("circle")].filter((mark) => tipOf(mark)).map((mark) => ({
      mark, x: parseFloat(mark.getAttribute("cx")) / 100, y: parseFloat(mark.getAttribute("cy")),
    }));
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    figure.append(tip);
    let near = null;
    const show = (text, x, y) => {
      tip.textContent = text;
      tip.hidden = false;
      const box = figure.getBoundingClientRect();
      const left = Math.min(Math.max(0, x - box.left + 12), box.width - tip.offsetWidth);
      const above = y - box.top - tip.offsetHeight - 12;
      tip.style.left = left + "px";
      tip.style.top = (above < 0 ? y - box.top + 16 : above) + "px";
    };
    const leave = () => {
      if (near) near.classList.remove("near");
      near = null;
      tip.hidden = true;
    };
    area.addEventListener("pointermove", (event) => {
      const box = area.getBoundingClientRect();
      const x = event.clientX - box.left, y = event.clientY - box.top;
      let best = null, least = 20 * 20;
      for (const one of marks) {
        const dx = one.x * box.width - x, dy = one.y - y, far = dx * dx + dy * dy;
        if (far < least) { least = far; best = one.mark; }
      }
      const cell = best ? null : event.target.closest && event.target.closest("g.cell");
      if (near && near !== best) near.classList.remove("near");
      near = best;
      if (best) {
        best.classList.add("near");
        show(tipOf(best), event.clientX, event.clientY);
      } else if (cell) {
        show(cell.dataset.tip, event.clientX, event.clientY);
      } else {
        leave();
      }
    });
    area.addEventListener("pointerleave", leave);
  };
  // Those in closed folds are prepared when they are opened.
  const ready = new WeakSet();
  const prepareSeen = () => {
    for (const figure of document.querySelectorAll("figure.plot")) {
      if (ready.has(figure) || figure.closest("details:not([open])")) continue;
      ready.add(figure);
      prepare(figure);
    }
  };
  prepareSeen();
  document.addEventListener("toggle", prepareSeen, true);

  // Tables: a click on a heading sorts by it.
  const value = (cell) => {
    const text = cell.textContent.trim();
    const number = parseFloat(text.replace(/[$,]/g, ""));
    return Number.isNaN(number) ? null : number;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      head.classList.add("sorts");
      head.tabIndex = 0;
      const sort = () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const numeric = head.classList.contains("n");
        const rows = [...table.tBodies[0].rows];
        const key = (row) => numeric ? value(row.cells[column]) : row.cells[column].textContent;
        rows.sort((a, b) => {
          const one = key(a), two = key(b);
          if (one === null || two === null) return (one === null) - (two === null);  // what is missing stands last
          const order = numeric ? one - two : one < two ? -1 : one > two ? 1 : 0;
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows);
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); }
      });
    });
  }

  // The tree.
  for (const button of document.querySelectorAll("button[data-fold]")) {
    button.addEventListener("click", () => {
      const open = button.dataset.fold === "ideas";
      for (const fold of document.querySelectorAll(".tree details")) fold.open = open;
    });
  }

  // A link into a fold opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let at = target.closest("details"); at; at = at.parentNode.closest("details")) at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // On paper every kernel's fold is open; the tree stays as it is.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")].filter((fold) => !fold.closest(".tree"));
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
})();
