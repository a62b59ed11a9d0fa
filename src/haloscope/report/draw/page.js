// SPDX-License-Identifier: BSD-3-Clause
// Values of points on hover and touch; axes linear or logarithmic; tables sorted, filtered, and saved as CSV.
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
  const series = entry.id.match(/series-\d+$/)[0];
  const scope = entry.closest(entry.id.includes("shared-legend-") ? ".panels" : "svg");
  entry.setAttribute("role", "button");
  entry.setAttribute("aria-pressed", "true");
  entry.addEventListener("click", () => {
    const on = entry.getAttribute("aria-pressed") === "false";
    entry.setAttribute("aria-pressed", String(on));
    entry.style.opacity = on ? "" : ".35";
    const parts = scope.querySelectorAll(`[id*="-${series}-"], [data-series="${series}"]`);
    for (const part of parts) part.style.display = on ? "" : "none";
  });
}

// Where an axis has a value, in the coordinates of its SVG; far outside where a logarithm is none.
function placeOn({ scale, ends: [low, high], at: [from, to] }) {
  const along = scale === "log" ? Math.log : Number;
  return (value) => {
    const part = (along(value) - along(low)) / (along(high) - along(low));
    return from + (Number.isFinite(part) ? part : -9) * (to - from);
  };
}

function valueOn({ scale, ends: [low, high], at: [from, to] }) {
  return (place) => {
    const part = (place - from) / (to - from);
    return scale === "log" ? low * (high / low) ** part : low + part * (high - low);
  };
}

// The same axis, linear where it was logarithmic, and the reverse.
function otherwise(axis) {
  const [least, most] = axis.drawn, room = 0.05;
  const factor = (most / least) ** room, pad = room * (most - least);
  return axis.scale === "log"
    ? { ...axis, scale: "linear", ends: [axis.zero ? Math.min(0, least) : least - pad, most + pad] }
    : { ...axis, scale: "log", ends: [least / factor, most * factor] };
}

// Round values of an axis that has no ticks of its own.
function stepsOf(scale, [low, high]) {
  const values = [];
  if (scale === "log") {
    const factors = high / low < 100 ? [1, 2, 5] : [1];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; ++power) {
      values.push(...factors.map((factor) => factor * 10 ** power));
    }
    const inside = values.filter((value) => low <= value && value <= high);
    if (inside.length > 1) return inside;
    values.length = 0;
  }
  const least = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(least));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= least);
  for (let k = Math.ceil(low / step); k * step <= high; ++k) values.push(k * step);
  return values;
}

// Ticks with room for their words, the largest first.
function ticksOf(axis, which) {
  const place = placeOn(axis), [low, high] = axis.ends, kept = [];
  const own = axis.ticks.length ? axis.ticks : stepsOf(axis.scale, axis.ends).map(
    (value) => [value, String(Number(value.toPrecision(6))).replace("-", "\u2212")]);
  for (const [value, word] of [...own].sort((a, b) => b[0] - a[0])) {
    const at = place(value), room = which === "x" ? 6 * word.length + 8 : 14;
    if (value < low || value > high || kept.some(([other]) => Math.abs(other - at) < room)) continue;
    kept.push([at, word]);
  }
  return kept;
}

// A path moved point by point; a smooth one in small pieces, as it bends between its points.
function movedPath(path, moveX, moveY, pieces) {
  const words = [];
  let last;
  for (const [, kind, x, y] of path.matchAll(/([ML]) (\S+) (\S+)/g)) {
    const next = [Number(x), Number(y)], [from, steps] = kind === "L" ? [last, pieces] : [next, 1];
    for (let k = 1; k <= steps; ++k) {
      const [atX, atY] = next.map((end, side) => from[side] + (end - from[side]) * k / steps);
      words.push(`${kind} ${moveX(atX).toFixed(2)} ${moveY(atY).toFixed(2)}`);
    }
    last = next;
  }
  return `${words.join(" ")}${path.includes("z") ? " z" : ""}`;
}

// How each part of a panel on its axes is moved; without functions it stays as drawn.
function partsOf(svg) {
  const parts = [];
  for (const group of svg.querySelectorAll('[id*="-series-"], [id*="-placed-"], .points')) {
    if (group.id.includes("legend-")) continue;
    const only = group.id.match(/-placed-([xy])-/)?.[1], pieces = group.querySelector("use") ? 1 : 16;
    for (const part of group.querySelectorAll("path, use, circle, text")) {
      if (part.closest("defs")) continue;
      const names = { path: ["d"], circle: ["cx", "cy"] }[part.tagName] ?? ["x", "y"];
      const drawn = names.map((name) => part.getAttribute(name));
      parts.push((moves) => {
        const [moveX, moveY] = ["x", "y"].map((which) =>
          only && only !== which ? (at) => at : moves[which]);
        if (part.tagName === "path") {
          part.setAttribute("d", movedPath(drawn[0], moveX, moveY, pieces));
        } else if (part.tagName === "text") { // beside its point
          const aside = part.style.textAnchor === "end" ? -3 : 3, x = Number(drawn[0]);
          part.style.translate = `${moveX(x - aside) + aside - x}px`;
        } else {
          part.setAttribute(names[0], moveX(Number(drawn[0])));
          part.setAttribute(names[1], moveY(Number(drawn[1])));
        }
      });
    }
  }
  return parts;
}

function drawTicks(svg, which, axis, changed) {
  const drawn = [...svg.querySelectorAll(`[id*="-${which}tick_"]`)];
  for (const tick of drawn) tick.style.display = changed ? "none" : "";
  for (const tick of svg.querySelectorAll(`.tick-${which}`)) tick.remove();
  const like = drawn.find((tick) => tick.querySelector("use") && tick.querySelector("text"));
  if (!changed || !like) return;
  const from = Number(like.querySelector("use").getAttribute(which));
  for (const [at, word] of ticksOf(axis, which)) {
    const tick = like.cloneNode(true);
    tick.querySelector("defs")?.remove();
    for (const part of [tick, ...tick.querySelectorAll("[id]")]) part.removeAttribute("id");
    tick.setAttribute("class", `tick-${which}`);
    tick.style.display = "";
    tick.querySelector("text").textContent = word;
    tick.setAttribute("transform", which === "x" ? `translate(${at - from})` : `translate(0 ${at - from})`);
    like.after(tick);
  }
}

function switchable({ scale, drawn: [least, most], ticks }) {
  const numbers = ticks.every(([, word]) => /\d/.test(word));
  return scale !== "symlog" && least < most && (scale === "log" || (least > 0 && numbers));
}

for (const points of document.querySelectorAll(".points")) {
  const svg = points.closest("svg"), axes = JSON.parse(points.dataset.axes), now = { ...axes };
  const bar = document.createElement("div"), parts = partsOf(svg);
  bar.className = "tools";
  for (const which of ["x", "y"].filter((one) => switchable(axes[one]))) {
    const button = document.createElement("button"), axis = axes[which];
    button.textContent = `log ${which}`;
    button.title = `Logarithmic or linear ${which} axis`;
    const pressed = () => button.setAttribute("aria-pressed", String(now[which].scale === "log"));
    pressed();
    button.addEventListener("click", () => {
      now[which] = now[which] === axis ? otherwise(axis) : axis;
      pressed();
      const moves = Object.fromEntries(["x", "y"].map((one) => {
        const value = valueOn(axes[one]), place = placeOn(now[one]);
        return [one, now[one] === axes[one] ? (at) => at : (at) => place(value(at))];
      }));
      for (const move of parts) move(moves);
      drawTicks(svg, which, now[which], now[which] !== axis);
    });
    bar.append(button);
  }
  svg.after(bar);
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

function linkTo(element, kind) {
  const link = document.createElement("a");
  link.textContent = "link";
  link.title = `Permanent link to this ${kind}`;
  link.href = `#${element.id}`;
  return link;
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
  bar.append(linkTo(table, "table"), save);
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

for (const figure of document.querySelectorAll("figure[id]")) {
  figure.querySelector("figcaption").append(" ", linkTo(figure, "figure"));
}

function open() {
  let place = location.hash && document.getElementById(location.hash.slice(1));
  for (; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
}
window.addEventListener("hashchange", open);
open();
