// SPDX-License-Identifier: BSD-3-Clause
// Values of points and cells on hover and touch; tables sorted, filtered, and saved as CSV.
// Without it the page has the same numbers.
"use strict";

const box = document.createElement("div");
box.className = "value";
box.setAttribute("role", "status");
box.hidden = true;
document.body.append(box);

function show(text, event) {
  box.textContent = text;
  box.hidden = false;
  const width = box.offsetWidth, right = document.documentElement.clientWidth - width - 8;
  box.style.left = `${window.scrollX + Math.max(8, Math.min(event.clientX + 12, right))}px`;
  box.style.top = `${window.scrollY + event.clientY + 16}px`;
}

for (const point of document.querySelectorAll(".points circle")) {
  const title = point.querySelector("title"), text = title.textContent;
  title.remove(); // the browser's own would come a second later
  point.setAttribute("aria-label", text.replaceAll("\n", ", "));
  for (const kind of ["pointerenter", "click"]) {
    point.addEventListener(kind, (event) => show(text, event));
  }
  point.addEventListener("pointerleave", () => { box.hidden = true; });
}
document.addEventListener("click", (event) => {
  if (!event.target.closest(".points circle")) box.hidden = true;
});

for (const entry of document.querySelectorAll('[id*="legend-series-"]')) {
  const series = entry.id.match(/series-\d+$/)[0], svg = entry.closest("svg");
  entry.setAttribute("role", "button");
  entry.setAttribute("aria-pressed", "true");
  entry.addEventListener("click", () => {
    const on = entry.getAttribute("aria-pressed") === "false";
    entry.setAttribute("aria-pressed", String(on));
    entry.style.opacity = on ? "" : ".35";
    const parts = svg.querySelectorAll(`[id*="-${series}-"], [data-series="${series}"]`);
    for (const part of parts) part.style.display = on ? "" : "none";
  });
}

function valueOf(cell) {
  return cell.dataset.value ?? (cell.querySelector("span") ?? cell).textContent.trim();
}

// Numbers by value, before all that is none.
function compare(a, b) {
  const [x, y] = [a, b].map((text) => text === "" ? NaN : Number(text));
  if (Number.isNaN(x) && Number.isNaN(y)) return a.localeCompare(b);
  return Number.isNaN(x) - Number.isNaN(y) || x - y;
}

// The head of each column: in the second row where columns share a title in the first.
function headsOf(table) {
  const [first, second] = table.tHead.rows, below = second ? [...second.cells] : [];
  return [...first.cells].flatMap((head) =>
    head.colSpan > 1 || (second && head.rowSpan === 1) ? below.splice(0, head.colSpan) : [head]);
}

function sortable(table) {
  const body = table.tBodies[0], rows = [...body.rows], heads = headsOf(table);
  if (rows.length < 3) return;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    button.title = "Sort by this column";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" };
      const order = next[head.ariaSort ?? "none"];
      for (const other of heads) other.ariaSort = "none";
      head.ariaSort = order;
      const sign = order === "descending" ? -1 : 1;
      const sorted = order === "none" ? rows : [...rows].sort(
        (a, b) => sign * compare(valueOf(a.cells[column]), valueOf(b.cells[column])));
      body.append(...sorted);
    });
  });
}

// Text that no spreadsheet takes for a formula: results may be from others.
function inert(text) {
  return /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
}

function csvOf(table) {
  const quoted = (text) => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = [];
  for (const row of table.rows) {
    const cells = [];
    for (const cell of row.cells) {
      cells.push(quoted(inert(row.closest("tbody") ? valueOf(cell) : cell.textContent.trim())));
      for (let extra = 1; extra < cell.colSpan; ++extra) cells.push("");
    }
    lines.push(cells.join(","));
  }
  return `${lines.join("\n")}\n`;
}

function tools(table) {
  const bar = document.createElement("div");
  bar.className = "tools";
  const save = document.createElement("a");
  save.textContent = "CSV";
  save.title = "Save this table with exact values";
  save.download = `${table.id.replace("table-", "")}.csv`;
  save.href = "#";
  save.addEventListener("click", () => {
    save.href = URL.createObjectURL(new Blob([csvOf(table)], { type: "text/csv" }));
  });
  const link = document.createElement("a");
  link.textContent = "link";
  link.title = "Permanent link to this table";
  link.href = `#${table.id}`;
  bar.append(link, save);
  const rows = [...table.tBodies[0].rows];
  if (rows.length > 8) {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "filter rows";
    filter.setAttribute("aria-label", "Show rows that contain all of these words");
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    bar.append(filter);
  }
  table.closest(".box").before(bar);
}

for (const table of document.querySelectorAll(".box table")) {
  sortable(table);
  tools(table);
}

function open() {
  let place = location.hash && document.getElementById(location.hash.slice(1));
  for (; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
}
window.addEventListener("hashchange", open);
open();
