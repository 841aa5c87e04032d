// What the reader does to the picture: keys, search, size.

const MOST_OPENED = 120;

const KEYS = {
  ArrowDown: () => order[order.indexOf(current) + 1],
  ArrowUp: () => order[order.indexOf(current) - 1],
  ArrowRight: () => (isLeaf(current) ? undefined : open.has(current) ? first[current] : toggle(current)),
  ArrowLeft: () => (open.has(current) ? toggle(current) : parent[current]),
  Home: () => 0,
  End: () => order[order.length - 1],
  Enter: () => toggle(current),
  " ": () => toggle(current),
};

function onKey(event) {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const next = act();
  if (next >= 0) focusOn(next);
}

// Nodes that ask for a feature of that name, or that a category of that name leads to.
function search(words) {
  const wanted = words.trim().toLowerCase();
  const matches = [];
  if (wanted) {
    const named = features.map((_, f) => nameOf(f).toLowerCase().includes(wanted));
    const held = features.map((feature, f) => new Set((feature.categories || [])
      .flatMap((_, code) => (wordOf(f, code).toLowerCase().includes(wanted) ? [code] : []))));
    for (let node = 0; node < N; node += 1) {
      const led = node && Number.isNaN(threshold[parent[node]])
        && nodes.slots[parent[node]].some((slot, code) => first[parent[node]] + slot === node && held[nodes.feature[parent[node]]].has(code));
      if (led || (!isLeaf(node) && named[nodes.feature[node]])) matches.push(node);
    }
    matches.slice(0, MOST_OPENED).forEach((node) => { openTo(node); if (!isLeaf(node)) open.add(node); });
  }
  found = new Set(matches);
  redraw();
  byId("tree-found").textContent = wanted ? `${counted(matches.length, "node")}` : "";
  if (matches.length) bringIntoView(matches[0]);
  return matches;
}

function zoom(factor, x = byId("tree-view").clientWidth / 2, y = byId("tree-view").clientHeight / 2) {
  const view = byId("tree-view");
  const next = Math.min(Math.max(scale * factor, 0.02), 2.5);
  const [left, top] = [(view.scrollLeft + x) / scale, (view.scrollTop + y) / scale];
  scale = next;
  resize();
  view.scrollLeft = left * scale - x;
  view.scrollTop = top * scale - y;
}

function resize() {
  const view = byId("tree-view");
  const picture = view.firstElementChild;
  picture.setAttribute("width", Math.floor(view.size.width * scale));
  picture.setAttribute("height", Math.floor(view.size.height * scale));
}

// Makes the whole picture as large as the window allows, and no larger than it was drawn.
function fit() {
  const { width, height } = room();
  const { size } = byId("tree-view");
  scale = Math.min(width / size.width, outline ? 1 : height / size.height, 1);
  resize();
}

// A mouse drags the picture; a finger scrolls it, as it does everything else.
function draggable(view) {
  let from = null;
  view.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button || event.target.closest(".node")) return;
    from = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    view.setPointerCapture(event.pointerId);
    view.classList.add("dragged");
  });
  view.addEventListener("pointermove", (event) => {
    if (!from) return;
    view.scrollLeft = from.x - event.clientX;
    view.scrollTop = from.y - event.clientY;
  });
  const drop = () => { from = null; view.classList.remove("dragged"); };
  view.addEventListener("pointerup", drop);
  view.addEventListener("pointercancel", drop);
}

function legend() {
  const place = byId("legend");
  if (regression) {
    place.append(key("strong", `mean, from ${probability(lowest)} to ${probability(highest)}`));
  } else if (K > 8) {
    place.append(...["most probable class", "second", "third", "all others"].map((words, rank) => key(`rank${rank}`, words)));
  } else {
    place.append(...classes.map((words, k) => key(colourOf(k, 0), shortened(words, 40))));
  }
  if (!regression && positive !== null) place.append(el("li", {}, `Numbers: ${headOfClass()} → decision`));
}

const key = (colour, words) => el("li", {},
  draw("svg", { width: 12, height: 12, "aria-hidden": "true" }, draw("rect", { class: colour, width: 12, height: 12, rx: 2 })), words);

function treePicture() {
  const view = byId("tree-view");
  openWhatFits();
  legend();
  redraw();
  describe(0);
  fit();
  let width = view.clientWidth;
  new ResizeObserver(() => {
    if (!view.isConnected || view.clientWidth === width) return; // another tree may have taken its place
    width = view.clientWidth;
    redraw();
    fit();
  }).observe(view.parentElement);
  view.addEventListener("keydown", onKey);
  view.addEventListener("pointerleave", () => describe(current));
  view.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = view.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
  }, { passive: false });
  draggable(view);
  let matches = [];
  let turn = 0;
  byId("tree-search").addEventListener("input", (event) => { turn = 0; matches = search(event.target.value); });
  byId("tree-search").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !matches.length) return;
    event.preventDefault();
    turn = (turn + 1) % matches.length;
    openTo(matches[turn]);
    redraw();
    describe(matches[turn]);
    bringIntoView(matches[turn]);
  });
  byId("tree-closer").addEventListener("click", () => zoom(1.25));
  byId("tree-farther").addEventListener("click", () => zoom(0.8));
  byId("tree-fit").addEventListener("click", fit);
  byId("tree-open").addEventListener("click", () => { for (let node = 0; node < N; node += 1) if (!isLeaf(node)) open.add(node); redrawAround(0); });
  byId("tree-close").addEventListener("click", () => { openWhatFits(); redraw(); fit(); });
}

const MOST_PRINTED = 60;

// The tree as lines of text: the whole, or what is open if it has many leaves.
function treeOnPaper() {
  const whole = leavesBelow[0] <= MOST_PRINTED;
  const lines = [];
  const visit = [0];
  while (visit.length) {
    const node = visit.pop();
    const closed = !isLeaf(node) && !whole && !open.has(node);
    const branch = node ? conditionOf(demandOf(node), nameOf(nodes.feature[parent[node]])) : "All rows";
    const answer = isLeaf(node) || closed ? el("b", {}, `: ${answerOf(node)}`) : "";
    const below = closed ? `, ${counted(leavesBelow[node], "leaf", "leaves")} below: see the rules` : "";
    const line = el("div", {}, branch, answer, el("span", { class: "soft" }, ` (${counted(nodes.rows[node], "row")}${below})`), termList(node));
    line.style.marginLeft = `${depth[node] * 0.9}em`;
    lines.push(line);
    if (!isLeaf(node) && !closed) visit.push(...childrenOf(node).reverse());
  }
  byId("tree-print").replaceChildren(...lines);
}
