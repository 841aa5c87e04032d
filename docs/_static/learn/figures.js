// Interactive figures of the learn pages. Each <figure data-figure="NAME"> is filled by the function of that name.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const digits = (value, n = 4) => value.toFixed(n);

  function make(space, name, attributes, children) {
    const made = space ? document.createElementNS(space, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  const element = (name, attributes = {}, ...children) => make(null, name, attributes, children);
  const shape = (name, attributes = {}, ...children) => make(SVG, name, attributes, children);
  const label = (x, y, text, attributes = {}) => shape("text", { x, y, "text-anchor": "middle", ...attributes }, text);
  const line = (x1, y1, x2, y2, attributes = {}) => shape("line", { x1, y1, x2, y2, class: "try-line", ...attributes });

  // A drawing that a screen reader skips: the text below it has the same numbers.
  const drawing = (width, height, ...children) =>
    shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", style: `max-width: ${width * 1.3}px` }, ...children);

  function table(heads, rows, marked = -1) {
    const cells = (row) => row.map((cell, i) => (i ? element("td", {}, cell) : element("th", { scope: "row" }, cell)));
    return element("table", { class: "table try-table", tabindex: 0 },
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows.map((row, i) => element("tr", i === marked ? { class: "try-best" } : {}, ...cells(row)))));
  }

  function choice(words, options, changed) {
    const select = element("select", { class: "form-select" }, ...options.map(([value, text]) => element("option", { value }, text)));
    select.addEventListener("change", () => changed(select.value));
    return element("label", { class: "try-choice" }, `${words} `, select);
  }

  // Buttons that go through the steps 0 to last(); show(step) returns the words about one, and what is below them.
  function stepper(figure, title, controls, last, show) {
    const button = (text) => element("button", { type: "button", class: "sd-btn sd-btn-primary" }, text);
    const [start, back, next] = ["Start", "Back", "Next"].map(button);
    const where = element("span", { class: "try-where" });
    const words = element("p", { "aria-live": "polite" });
    const view = element("div");
    let step = 0;
    function go(to) {
      step = Math.max(0, Math.min(last(), to));
      for (const [one, end] of [[start, step === 0], [back, step === 0], [next, step === last()]]) one.setAttribute("aria-disabled", String(end));
      where.textContent = `Step ${step} of ${last()}`;
      const [text, ...parts] = show(step);
      words.textContent = text;
      view.replaceChildren(...parts);
    }
    start.addEventListener("click", () => go(0));
    back.addEventListener("click", () => go(step - 1));
    next.addEventListener("click", () => go(step + 1));
    figure.replaceChildren(element("figcaption", {}, title), ...controls, element("div", { class: "try-buttons" }, start, back, next, where), words, view);
    go(0);
    return go;
  }

  const count = (classes, names) => names.map((name) => classes.filter((one) => one === name).length);

  function entropy(counts) {
    const n = counts.reduce((a, b) => a + b, 0);
    return counts.reduce((sum, c) => (c > 0 ? sum - (c / n) * Math.log2(c / n) : sum), 0);
  }

  // ---- one threshold

  function threshold(figure) {
    const { rows } = learnTables.hours;
    const names = ["f", "p"];
    const parts = (i) => [rows.slice(0, i), rows.slice(i)].map((part) => count(part.map((row) => row[1]), names));
    const size = (counts) => counts[0] + counts[1];
    const whole = entropy(count(rows.map((row) => row[1]), names));
    const gain = (i) => parts(i).reduce((left, part) => left - (size(part) / rows.length) * entropy(part), whole);
    const input = element("input", { type: "range", class: "form-range", min: 1, max: rows.length - 1, value: 5 });
    const view = element("div");
    const words = element("p", { "aria-live": "polite" });

    function show() {
      const i = Number(input.value);
      const cut = i + 0.5;
      const x = (hours) => 14 + 26 * hours;
      const bars = rows.slice(1).map((_, k) => {
        const height = 230 * gain(k + 1);
        return shape("rect", { x: x(k + 1.5) - 8, y: 150 - height, width: 16, height, class: k + 1 === i ? "try-fill" : "try-faint" });
      });
      const letters = rows.map(([hours, result]) => label(x(hours), 26, result, { class: result === "p" ? "try-strong" : "" }));
      const numbers = rows.map(([hours]) => label(x(hours), 166, hours, { class: "try-small" }));
      const [low, high] = parts(i);
      const place = ([f, p]) => [20 + 130 * (p / (f + p)), 150 - 120 * entropy([f, p])];
      const curve = Array.from({ length: 101 }, (_, k) => `${20 + 1.3 * k},${150 - 120 * entropy([100 - k, k])}`).join(" ");
      const mark = (counts, name) => {
        const [cx, cy] = place(counts);
        return [shape("circle", { cx, cy, r: 5, class: "try-fill" }), label(cx, cy - 8, name, { class: "try-small" })];
      };
      view.replaceChildren(element("div", { class: "try-row" },
        drawing(352, 186, ...letters, ...bars, line(x(cut), 6, x(cut), 152), ...numbers, label(180, 180, "hours; bars: gain of each threshold", { class: "try-small" })),
        drawing(170, 186, shape("polyline", { points: curve, class: "try-curve" }), line(20, 150, 150, 150), ...mark(low, "≤"), ...mark(high, ">"),
          label(20, 166, "0", { class: "try-small" }), label(150, 166, "1", { class: "try-small" }), label(85, 180, "share of p; entropy", { class: "try-small" }))));
      const side = (name, part) => `hours ${name} ${cut}: ${part[0]} f, ${part[1]} p, entropy ${digits(entropy(part))}`;
      words.replaceChildren(`${side("≤", low)}; `, `${side(">", high)}. Gain ${digits(whole)} − ${size(low)}/12 · ${digits(entropy(low))} − ${size(high)}/12 · ${digits(entropy(high))} = `,
        element("b", {}, digits(gain(i))), " bits.");
      input.setAttribute("aria-valuetext", `${cut} hours`);
    }
    input.addEventListener("input", show);
    figure.replaceChildren(element("figcaption", {}, "Move the threshold: twelve students, f failed and p passed"), element("label", {}, "Threshold", input), view, words);
    show();
  }

  // ---- ID3, split by split

  function growing(figure) {
    let name = "restaurant";
    let nodes = [];

    function grow() {
      const { columns, rows } = learnTables[name];
      const target = columns.length - 1;
      const classes = [...new Set(rows.map((row) => row[target]))].sort();
      const counts = (part) => count(part.map((row) => row[target]), classes);
      nodes = [{ rows, features: columns.slice(0, -1).map((_, f) => f), text: "every row", depth: 0 }];
      let splits = 0;
      for (let at = 0; at < nodes.length; at += 1) {
        const node = nodes[at];
        node.counts = counts(node.rows);
        node.entropy = entropy(node.counts);
        node.majority = classes[node.counts.indexOf(Math.max(...node.counts))];
        if (node.entropy === 0 || node.features.length === 0) continue;
        node.gains = node.features.map((f) => {
          const values = [...new Set(node.rows.map((row) => row[f]))].sort();
          const parts = values.map((value) => node.rows.filter((row) => row[f] === value));
          const left = parts.reduce((sum, part) => sum + (part.length / node.rows.length) * entropy(counts(part)), 0);
          return { f, gain: node.entropy - left, values, parts };
        });
        const sorted = [...node.gains].sort((a, b) => (Math.abs(a.gain - b.gain) > 1e-12 ? b.gain - a.gain : a.f - b.f));
        node.gains = sorted;
        const { f, values, parts } = sorted[0];
        if (values.length < 2) continue;
        splits += 1;
        node.split = splits;
        const rest = node.features.filter((one) => one !== f);
        node.children = parts.map((part, i) => {
          nodes.push({ rows: part, features: rest, text: `${columns[f]} = ${values[i]}`, born: splits, depth: node.depth + 1 });
          return nodes.length - 1;
        });
      }
      return { columns, classes, splits };
    }

    let made = grow();
    const counted = (node) => made.classes.map((one, k) => [node.counts[k], one]).filter(([n]) => n).map(([n, one]) => `${n} ${one}`).join(", ");

    function list(at, step) {
      const node = nodes[at];
      const open = node.split !== undefined && node.split <= step;
      const leaf = open ? "" : ` → ${node.majority}`;
      const item = element("li", node.split === step && open ? { class: "try-best" } : {}, `${at}) ${node.text}: ${counted(node)}${leaf}`);
      if (open) item.append(element("ul", {}, ...node.children.map((child) => list(child, step))));
      return item;
    }

    function show(step) {
      const at = nodes.findIndex((node) => node.split === step);
      const tree = element("ul", { class: "try-tree" }, list(0, step));
      if (at < 0) return [`All ${nodes[0].rows.length} rows are in the root. Entropy ${digits(nodes[0].entropy)} bits.`, tree];
      const node = nodes[at];
      const rows = node.gains.map(({ f, gain }) => [made.columns[f], digits(Math.abs(gain))]);
      return [`Node ${at}, ${node.text}: entropy ${digits(node.entropy)} bits. The largest gain is that of ${made.columns[node.gains[0].f]}.`,
        element("div", { class: "try-row" }, table(["feature", "gain"], rows, 0), tree)];
    }

    const tables = [["restaurant", "restaurant, 12 visits"], ["pizza", "9 pizzas"], ["tennis", "tennis, 14 days"], ["things", "13 things"]];
    const pick = choice("Table", tables, (value) => { name = value; made = grow(); go(0); });
    const go = stepper(figure, "Grow a tree with ID3, one split at a time", [pick], () => made.splits, show);
  }

  // ---- AdaBoost

  function adaboost(figure) {
    const { rows } = learnTables.points;
    const last = 8;

    // The shortest number between two values, near their middle.
    function between(low, high) {
      for (let n = 0; n < 15; n += 1) {
        const short = Number(((low + high) / 2).toFixed(n));
        if (low <= short && short < high) return short;
      }
      return (low + high) / 2;
    }

    function bestStump(weights) {
      let best = null;
      for (const feature of [0, 1]) {
        const values = [...new Set(rows.map((row) => row[feature]))].sort((a, b) => a - b);
        for (let k = 1; k < values.length; k += 1) {
          const cut = between(values[k - 1], values[k]);
          const sides = [true, false].map((low) => [1, -1].map((sign) =>
            rows.reduce((sum, row, i) => ((row[feature] <= cut) === low && row[2] === sign ? sum + weights[i] : sum), 0)));
          const impurity = sides.reduce((sum, side) => sum + (side[0] + side[1]) * entropy(side), 0);
          if (best === null || impurity < best.impurity - 1e-12) {
            const votes = sides.map(([plus, minus]) => (plus > minus ? 1 : -1));
            best = { impurity, feature, cut, h: rows.map((row) => votes[row[feature] <= cut ? 0 : 1]) };
          }
        }
      }
      return best;
    }

    const rounds = [];
    let D = rows.map(() => 1 / rows.length);
    let total = rows.map(() => 0);
    let product = 1;
    for (let t = 1; t <= last; t += 1) {
      const { feature, cut, h } = bestStump(D);
      const wrong = rows.map((row, i) => row[2] !== h[i]);
      const error = D.reduce((sum, weight, i) => (wrong[i] ? sum + weight : sum), 0);
      const alpha = 0.5 * Math.log(1 / error - 1);
      const unscaled = D.map((weight, i) => weight * Math.exp(-alpha * rows[i][2] * h[i]));
      const Z = unscaled.reduce((a, b) => a + b, 0);
      product *= Z;
      total = total.map((sum, i) => sum + alpha * h[i]);
      const missed = rows.filter((row, i) => Math.sign(total[i]) !== row[2]).length;
      const after = unscaled.map((weight) => weight / Z);
      rounds.push({ t, feature, cut, wrong, error, alpha, Z, product, missed, before: D, after });
      D = after;
    }

    function show(step) {
      const round = rounds[step - 1];
      const weights = round ? round.before : rows.map(() => 1 / rows.length);
      const x = (value) => 20 + 300 * value;
      const y = (value) => 290 - 280 * value;
      const parts = [shape("rect", { x: 20, y: 10, width: 300, height: 280, class: "try-frame" })];
      if (round) parts.push(round.feature === 0 ? line(x(round.cut), 10, x(round.cut), 290) : line(20, y(round.cut), 320, y(round.cut)));
      rows.forEach(([a, b, sign], i) => {
        const r = 30 * Math.sqrt(weights[i]);
        if (round && round.wrong[i]) parts.push(shape("circle", { cx: x(a), cy: y(b), r: 1.3 * r + 4, class: "try-wrong" }));
        parts.push(sign > 0
          ? shape("circle", { cx: x(a), cy: y(b), r, class: "try-plus" })
          : shape("rect", { x: x(a) - 0.9 * r, y: y(b) - 0.9 * r, width: 1.8 * r, height: 1.8 * r, class: "try-minus" }));
      });
      rows.forEach(([a, b, sign]) => parts.push(label(x(a), y(b) + 4, sign > 0 ? "+" : "−", { class: "try-sign" })));
      const text = round
        ? `Round ${round.t}: the stump ${"xy"[round.feature]} ≤ ${round.cut} gets ${round.wrong.filter(Boolean).length} rows wrong (in rings). Its error is their weight, ${digits(round.error)}. ` +
          `The weights after the round: ${round.after.map((weight) => digits(weight)).join(" ")}.`
        : "Ten rows, all of the weight 1/10; the area shows the weight. Circles are +1, squares -1.";
      const done = rounds.slice(0, step).map((one) => [String(one.t), `${"xy"[one.feature]} ≤ ${one.cut}`, digits(one.error), digits(one.alpha), digits(one.Z), digits(one.product), `${one.missed} of 10`]);
      return [text, element("div", { class: "try-row" }, drawing(340, 308, ...parts, label(170, 304, "x", { class: "try-small" }), label(10, 150, "y", { class: "try-small" }))),
        table(["round", "stump", "error", "alpha", "Z", "product of Z", "wrong together"], done, step - 1)];
    }
    stepper(figure, "AdaBoost, round by round", [], () => last, show);
  }

  // ---- pruning by frontiers

  function frontiers(figure) {
    const children = { 1: [2, 9], 2: [3, 6], 3: [4, 5], 6: [7, 8], 9: [10, 11] };
    const counts = { 4: [3, 1], 5: [2, 1], 7: [1, 4], 8: [1, 3], 10: [9, 0], 11: [1, 8] };
    const place = { 1: [225, 26], 2: [135, 80], 9: [305, 80], 3: [75, 134], 6: [195, 134], 10: [275, 134], 11: [335, 134], 4: [45, 188], 5: [105, 188], 7: [165, 188], 8: [225, 188] };
    const nodes = Object.keys(place).map(Number);
    const below = (node) => children[node] ?? [];
    const countOf = (node) => counts[node] ?? below(node).map(countOf).reduce(([a, b], [c, d]) => [a + c, b + d]);
    const height = (node) => (below(node).length ? 1 + Math.max(...below(node).map(height)) : 0);
    const depth = (node) => (node === 1 ? 0 : 1 + depth(nodes.find((one) => below(one).includes(node))));
    const leaves = (node, cut) => (cut.has(node) || !below(node).length ? [node] : below(node).flatMap((child) => leaves(child, cut)));
    let added = 1;
    let by = "height";

    function risk(node) {
      const n = countOf(node);
      const all = n[0] + n[1] + 2 * added;
      return n.reduce((sum, rows) => sum + rows * (1 - (rows + added) / all), 0);
    }

    // The rounds up to a step: their nodes, the comparisons of each, and what is cut in the end.
    function run(step) {
      const layer = (k) => nodes.filter((node) => (by === "height" ? height(node) === k : depth(node) === 3 - k)).sort((a, b) => a - b);
      const cut = new Set();
      let lines = [];
      for (let k = 0; k < step; k += 1) {
        lines = [];
        const found = [];
        for (const node of layer(k).filter((one) => below(one).length)) {
          const here = leaves(node, cut);
          const [own, others] = [risk(node), here.reduce((sum, leaf) => sum + risk(leaf), 0)];
          const less = own < others - 1e-9;
          lines.push([String(node), digits(own, 2), less ? "<" : "≥", digits(others, 2), here.join(", "), less ? "cut" : "kept"]);
          if (less) found.push(node);
        }
        found.forEach((node) => cut.add(node));
      }
      return { now: step ? layer(step - 1) : [], lines, cut };
    }

    function show(step) {
      const { now, lines, cut } = run(step);
      const left = new Set();
      (function keep(node) { left.add(node); if (!cut.has(node)) below(node).forEach(keep); })(1);
      const edges = nodes.flatMap((node) => below(node).map((child) =>
        line(...place[node], ...place[child], left.has(child) ? {} : { class: "try-line try-gone" })));
      const boxes = nodes.flatMap((node) => {
        const [x, y] = place[node];
        const [a, b] = countOf(node);
        const kind = ["try-node", now.includes(node) ? "try-now" : "", left.has(node) ? "" : "try-gone"].join(" ");
        return [shape("rect", { x: x - 25, y: y - 18, width: 50, height: 36, rx: 5, class: kind }), label(x, y - 3, node, { class: `try-strong ${kind}` }), label(x, y + 13, `${a} : ${b}`, { class: `try-small ${kind}` })];
      });
      const words = !step ? "No round yet. Each node has its number and its rows of both classes."
        : `Round ${step}: ${now.length === 1 ? "node" : "nodes"} ${now.join(", ")}${lines.length ? "." : ". They are leaves: there is nothing to compare."}`;
      const parts = [words, drawing(365, 212, ...edges, ...boxes)];
      if (lines.length) parts.push(table(["node", "risk", "is", "leaves", "which", "so"], lines));
      if (step === 4) parts.push(element("p", {}, `Leaves of the tree that is left: ${leaves(1, cut).join(", ")}.`));
      return parts;
    }
    const estimates = choice("Probabilities", [["1", "Laplace"], ["0", "training frequencies"]], (value) => { added = Number(value); go(0); });
    const layers = choice("Layers", [["height", "by height"], ["depth", "by depth"]], (value) => { by = value; go(0); });
    const go = stepper(figure, "Prune the tree of the note, round by round", [estimates, layers], () => 4, show);
  }

  const figures = { threshold, growing, adaboost, frontiers };
  document.querySelectorAll("figure[data-figure]").forEach((figure) => figures[figure.dataset.figure](figure));
})();
