// The tree as a picture: opened and closed, searched, walked with the keyboard.
// A wide window has it from left to right; a narrow one has an outline, a line for each node.

const LINE = 52;
const BAND = 20;
const MARGIN = { left: 16, top: 34 };
const NARROW = 600; // pixels: below, the outline
const STEP = { least: 160, most: 240 }; // from a node to its children
const INDENT = { least: 6, most: 18 }; // the same in the outline
const SMALLEST = 0.8; // at the start no writing is smaller than that
const MOST_ENDS = { wide: 40, outline: 12 };

const open = new Set();
const drawn = new Map();
let order = [];
let current = 0;
let scale = 1;
let outline = false;
let spacing = STEP.most;
let travelled = new Set();
let found = new Set();

const share = (node) => nodes.rows[node] / Math.max(nodes.rows[0], 1);
const pen = document.createElement("canvas").getContext("2d");

function fitted(words, font, width) {
  pen.font = font;
  if (pen.measureText(words).width <= width) return words;
  let [from, to] = [0, Math.min(words.length, 200)];
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if (pen.measureText(`${words.slice(0, middle)}…`).width <= width) from = middle;
    else to = middle - 1;
  }
  return `${words.slice(0, from)}…`;
}

// The room of the picture in the window.
function room() {
  const view = byId("tree-view");
  const height = parseFloat(getComputedStyle(view).maxHeight);
  return { width: view.clientWidth || 800, height: Number.isNaN(height) ? Infinity : height };
}

// Opens the node with most rows, again and again, as long as the picture fits the window.
function openWhatFits(most = Infinity) {
  const { width, height } = room();
  const narrow = width < NARROW;
  const lines = narrow ? MOST_ENDS.outline : Math.min((height / SMALLEST - MARGIN.top) / LINE, MOST_ENDS.wide);
  const levels = narrow ? (width - 190) / 10 : (width / SMALLEST - 216) / STEP.least;
  open.clear();
  const ends = [0];
  while (ends.length < Math.min(lines, most)) {
    const next = ends.filter((node) => !isLeaf(node) && depth[node] + 1 <= levels && ends.length - 1 + nodes.children[node] <= lines)
      .reduce((a, b) => (a < 0 || share(b) > share(a) ? b : a), -1);
    if (next < 0) return;
    open.add(next);
    ends.splice(ends.indexOf(next), 1, ...childrenOf(next));
  }
}

function layout() {
  const place = new Map();
  order = [];
  let line = 0;
  const visit = [[0, false]];
  const put = (node) => { place.set(node, MARGIN.top + line * LINE); line += 1; };
  while (visit.length) {
    const [node, done] = visit.pop();
    if (done) {
      const below = childrenOf(node);
      place.set(node, (place.get(below[0]) + place.get(below[below.length - 1])) / 2);
    } else {
      order.push(node);
      if (outline || !open.has(node)) put(node);
      if (open.has(node)) visit.push(...(outline ? [] : [[node, true]]), ...childrenOf(node).reverse().map((child) => [child, false]));
    }
  }
  return { place, lines: line };
}

// How far apart levels are: as far as the window allows, within limits.
function arrange() {
  const { width } = room();
  outline = width < NARROW;
  const placed = layout();
  const deepest = Math.max(1, ...order.map((node) => depth[node]));
  const limits = outline ? INDENT : STEP;
  spacing = Math.min(Math.max((width - (outline ? 190 : 216)) / deepest, limits.least), limits.most);
  const across = outline ? Math.max(width, deepest * spacing + 190) : MARGIN.left + deepest * spacing + 200;
  return { ...placed, across };
}

const leftOf = (node) => MARGIN.left + depth[node] * spacing;
const textOf = (node, across) => (outline ? across - leftOf(node) - 40 : Math.min(spacing - 48, 164));

function bands(place) {
  return order.filter((node) => open.has(node)).flatMap((node) => {
    const x = outline ? leftOf(node) + 2 : leftOf(node) + textOf(node) + 22;
    let y = place.get(node) - (share(node) * BAND) / 2;
    return childrenOf(node).map((child) => {
      const on = travelled.has(child) ? " on" : "";
      const [to, end] = [place.get(child), leftOf(child) - 6];
      if (outline) return draw("path", { class: `stem${on}`, d: `M${x} ${(place.get(node) + 18).toFixed(1)}V${(to - 4).toFixed(1)}H${(end + 3).toFixed(1)}` });
      const width = Math.max(share(child) * BAND, 1);
      const from = y + (share(child) * BAND) / 2;
      y += share(child) * BAND;
      const bend = x + (end - x) * 0.5;
      return draw("path", { class: `band${on}`, "stroke-width": width.toFixed(2),
        d: `M${x} ${from.toFixed(1)}C${bend} ${from.toFixed(1)} ${bend} ${to.toFixed(1)} ${end} ${to.toFixed(1)}` });
    });
  });
}

const FONT = getComputedStyle(document.body).getPropertyValue("--sans") || "sans-serif";

function headOf(node) {
  if (isLeaf(node)) return shortAnswerOf(node);
  return open.has(node) ? `${nameOf(nodes.feature[node])}?` : shortAnswerOf(node);
}

function drawNode(node, y, across) {
  const x = leftOf(node);
  const text = textOf(node, across);
  const long = Math.min(text - 38, 96);
  const inner = !isLeaf(node);
  const closed = inner && !open.has(node);
  const state = [inner ? "inner" : "leaf", travelled.has(node) ? "on" : "", found.has(node) ? "found" : "", closed ? "closed" : ""];
  const siblings = node ? nodes.children[parent[node]] : 1;
  const group = draw("g", {
    class: `node ${state.filter(Boolean).join(" ")}`,
    role: "treeitem",
    tabindex: node === current ? 0 : -1,
    "aria-level": depth[node] + 1,
    "aria-setsize": siblings,
    "aria-posinset": node ? node - first[parent[node]] + 1 : 1,
    "aria-expanded": inner ? String(open.has(node)) : null,
    "aria-selected": String(node === current),
    transform: `translate(${x} ${y})`,
    onfocus: () => choose(node),
    onpointerenter: data.still ? null : () => describe(node), // in an editor the chosen node stays
    onclick: (event) => (event.target.closest(".mark") ? toggle(node) : focusOn(node)),
  },
  draw("rect", { class: "ring", x: -7, y: -29, width: text + 14, height: LINE - 2, rx: 5 }),
  draw("text", { class: "branch", y: -14 }, fitted(branchOf(node), `12px ${FONT}`, text)),
  draw("text", { class: "head", y: 2 }, fitted(headOf(node), `600 13.5px ${FONT}`, text)),
  bar(at(belief, node), 0, 9, long, 5),
  draw("text", { class: "rows", x: long + 6, y: 15 }, amount(nodes.rows[node]) + (closed ? ` · ${counted(leavesBelow[node], "leaf", "leaves")}` : wordsOfTerms(node).length ? ` · ${counted(wordsOfTerms(node).length, "term")}` : "")));
  if (inner) {
    group.append(draw("g", { class: "mark", transform: `translate(${text + 13} 0)` },
      draw("circle", { class: "reach", r: 15 }), draw("circle", { r: 7.5 }),
      draw("path", { d: closed ? "M-3.5 0H3.5M0 -3.5V3.5" : "M-3.5 0H3.5" })));
  }
  return group;
}

function redraw() {
  const { place, lines, across } = arrange();
  if (!place.has(current)) current = pathTo(current).filter((node) => place.has(node)).pop();
  const height = 2 * MARGIN.top + (lines - 1) * LINE - 4;
  drawn.clear();
  order.forEach((node) => drawn.set(node, drawNode(node, place.get(node), across)));
  const picture = draw("svg", { role: "tree", "aria-label": "Decision tree", viewBox: `0 0 ${across} ${height}` },
    draw("g", { "aria-hidden": "true" }, ...bands(place)), ...drawn.values());
  const view = byId("tree-view");
  view.replaceChildren(picture);
  Object.assign(view, { place, size: { width: across, height } });
  resize();
}

// Redraws so that a node stays where the eye is.
function redrawAround(node) {
  const view = byId("tree-view");
  const before = view.place.get(node);
  redraw();
  if (before !== undefined) view.scrollTop += (view.place.get(node) - before) * scale;
}

function toggle(node) {
  if (isLeaf(node)) return;
  if (!open.delete(node)) open.add(node);
  openedForWay = openedForWay.filter((opened) => opened !== node);
  current = node;
  redrawAround(node);
  focusOn(node);
}

function focusOn(node) {
  const item = drawn.get(node);
  item.focus({ preventScroll: true });
  bringIntoView(node);
}

function bringIntoView(node) {
  const view = byId("tree-view");
  const [x, y] = [leftOf(node) * scale, view.place.get(node) * scale];
  const room = 40;
  if (x - room < view.scrollLeft) view.scrollLeft = x - room;
  else if (x + 200 * scale > view.scrollLeft + view.clientWidth) view.scrollLeft = x + 200 * scale - view.clientWidth;
  if (y - room < view.scrollTop) view.scrollTop = y - room;
  else if (y + room > view.scrollTop + view.clientHeight) view.scrollTop = y + room - view.clientHeight;
}

function choose(node) {
  const before = drawn.get(current);
  if (before) { before.setAttribute("tabindex", -1); before.setAttribute("aria-selected", "false"); }
  current = node;
  drawn.get(node).setAttribute("tabindex", 0);
  drawn.get(node).setAttribute("aria-selected", "true");
  describe(node);
  byId("tree-view").dispatchEvent(new CustomEvent("choose", { detail: node }));
}

let described = -1;
const seenAt = (node) => (regression ? [test.sums[node] / test.counts[node]] : at(test.counts, node));

// Everything about a node, beside the tree.
function describe(node) {
  if (node === described) return;
  described = node;
  const conditions = wayTo(node);
  const facts = [`${counted(nodes.rows[node], "training row")} (${percent(share(node))})`];
  if (!regression) facts.push(`decision ${shortened(classes[decidedAt(node)], 40)}`);
  if (nodes.borrowed[node]) facts.push(`smoothing weight ${counted(nodes.borrowed[node], "row")}`);
  byId("tree-node").replaceChildren(
    el("h3", {}, node === 0 ? "All rows" : `${isLeaf(node) ? "Leaf" : "Node"} ${node}`),
    conditions.length ? el("ul", { class: "conditions" }, ...conditions.map((words) => el("li", {}, words))) : "",
    el("p", { class: "soft" }, facts.join(" · ")),
    classTable(at(belief, node), at(low, node), at(high, node), at(evidence, node), test && seenAt(node)),
    termList(...pathTo(node)),
    isLeaf(node) ? "" : el("p", { class: "soft" }, `Tests ${shortened(nameOf(nodes.feature[node]), 80)}; ${counted(leavesBelow[node], "leaf", "leaves")} below.`));
}

function openTo(node) {
  pathTo(node).slice(0, -1).forEach((above) => open.add(above));
}

function showInTree(node) {
  openTo(node);
  current = node;
  redraw();
  byId("tree").scrollIntoView({ block: "start" });
  focusOn(node);
}

// Marks the way of a row: every node it passes. What was opened for the row before is closed again.
let openedForWay = [];

function showWay(stops) {
  openedForWay.forEach((node) => open.delete(node));
  travelled = new Set(stops.flatMap(([node]) => pathTo(node)));
  const inside = stops.length <= 3 ? stops.flatMap(([node]) => pathTo(node).slice(0, -1)) : [];
  openedForWay = inside.filter((node) => !open.has(node));
  openedForWay.forEach((node) => open.add(node));
  redraw();
}
