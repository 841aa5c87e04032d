// The form of the demo page: reads a row, evaluates the exported tree, and shows the prediction, the path in the tree and the rule.
"use strict";
(() => {
  const { level, features, parent, because, rule, rows, belief, low, high } = loanFacts;
  const byId = (id) => document.getElementById(id);
  const digits = (p) => p.toFixed(3);

  function filled(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  const element = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
  const shape = (name, attributes, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

  function table(id, heads, lines) {
    const cells = (line) => element("tr", {}, ...line.map((cell, i) => (i ? element("td", {}, cell) : element("th", { scope: "row" }, cell))));
    return element("table", { id, class: "table" },
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...lines.map(cells)));
  }

  const fields = features.map(({ name, kind, words }) => {
    const id = `demo-${name}`;
    const input = kind === "numeric"
      ? element("input", { id, class: "form-control", type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "missing" })
      : element("select", { id, class: "form-select" }, element("option", { value: "" }, "missing"),
        ...words.map((word, code) => element("option", { value: code }, word)));
    byId("demo-fields").append(element("div", {}, element("label", { for: id }, name), input));
    return input;
  });

  // The value of a field: null if it is missing, NaN if it is not a number.
  function valueOf(input, { kind, categories }) {
    const text = input.value.trim();
    if (text === "") return null;
    return kind === "numeric" ? Number(text) : categories[Number(text)];
  }

  function pathTo(node) {
    return node < 0 ? [] : [...pathTo(parent[node]), node];
  }

  // The tree as an outline, a line for each node: its condition, a bar of its probabilities and, of a leaf, its class.
  const LINE = 22, INDENT = 16, BAR = { left: 262, width: 70 }, WIDTH = 430, COLOURS = ["#0072b2", "#e69f00"];
  const childrenOf = (node) => parent.flatMap((above, child) => (above === node ? [child] : []));
  const order = (function below(node) { return [node, ...childrenOf(node).flatMap(below)]; })(0);
  const middle = (node) => LINE * (order.indexOf(node) + 1.5);
  const indent = (node) => INDENT * (pathTo(node).length - 1);

  function drawnNode(node, path) {
    const onPath = path.includes(node), isLeaf = !parent.includes(node), y = middle(node), x = indent(node);
    const parts = [];
    if (node) parts.push(shape("path", { d: `M${x - INDENT + 5} ${middle(parent[node]) + 8}V${y}H${x - 2}` }));
    parts.push(shape("text", { x, y: y + 4.5 }, because[node]));
    let end = BAR.left;
    belief[node].forEach((p, k) => {
      parts.push(shape("rect", { x: end, y: y - 6, width: BAR.width * p, height: 12, fill: COLOURS[k], opacity: isLeaf || onPath ? 1 : 0.35 }));
      end += BAR.width * p;
    });
    if (isLeaf || node === path.at(-1)) {
      const k = belief[node].indexOf(Math.max(...belief[node]));
      parts.push(shape("text", { x: BAR.left + BAR.width + 8, y: y + 4.5 }, `${loanTree.CLASSES[k]} ${belief[node][k].toFixed(2)}`));
    }
    return shape("g", { class: onPath ? "demo-node demo-on" : "demo-node", "data-node": node }, ...parts);
  }

  function drawTree(path) {
    const legend = loanTree.CLASSES.map((name, k) => shape("g", {},
      shape("rect", { x: BAR.left + 60 * k, y: 2, width: 12, height: 12, fill: COLOURS[k] }),
      shape("text", { x: BAR.left + 60 * k + 18, y: 12.5 }, name)));
    // Nodes of the path last: their lines are above the others.
    const nodes = [...order.filter((node) => !path.includes(node)), ...path].map((node) => drawnNode(node, path));
    const label = path.length ? `The tree; the row passes ${path.map((node) => because[node]).join(", ")}` : "The tree";
    byId("demo-tree").replaceChildren(
      shape("svg", { viewBox: `0 0 ${WIDTH} ${LINE * (order.length + 1)}`, role: "img", "aria-label": label }, ...legend, ...nodes));
  }

  function show() {
    const row = fields.map((input, i) => valueOf(input, features[i]));
    const wrong = row.findIndex((value) => Number.isNaN(value));
    fields.forEach((input, i) => input.setAttribute("aria-invalid", String(i === wrong)));
    byId("demo-problem").textContent = wrong < 0 ? "" : `${features[wrong].name}: “${fields[wrong].value}” is not a number.`;
    if (wrong >= 0) {
      byId("demo-answer").replaceChildren();
      byId("demo-details").replaceChildren();
      drawTree([]);
      return;
    }
    const node = loanTree.node(row);
    const probabilities = loanTree.probabilities(row);
    const decided = loanTree.predict(row);
    const k = loanTree.CLASSES.indexOf(decided);
    const value = (p) => element("span", {}, element("data", { value: p }, digits(p)), " ", element("meter", { min: 0, max: 1, value: p, "aria-hidden": "true" }));
    const path = pathTo(node);
    drawTree(path);
    byId("demo-answer").replaceChildren(
      element("p", { class: "demo-verdict" }, `${decided} `, element("b", {}, digits(probabilities[k]))),
      table("demo-classes", ["class", "probability", `${100 * level} % interval`],
        probabilities.map((p, c) => [loanTree.CLASSES[c], value(p), `${digits(low[node][c])} to ${digits(high[node][c])}`])),
      element("p", {}, element("b", {}, "Rule: "), element("span", { id: "demo-rule" }, `if ${rule[node]}, then ${decided}`), ` (${rows[node]} training rows).`));
    byId("demo-details").replaceChildren(
      table("demo-path", ["node", "rows", `P(${decided})`, "because"],
        path.map((at) => [String(at), String(rows[at]), digits(belief[at][k]), because[at]])),
      element("p", {}, "The call, and what it returns:"),
      element("pre", { tabindex: 0 }, `loanTree.probabilities(${JSON.stringify(row)})\n${JSON.stringify(probabilities)}`));
  }

  let example = 0;
  function fill() {
    const [row] = loanTree.VECTORS[example];
    fields.forEach((input, i) => {
      const { kind, categories } = features[i];
      input.value = row[i] === null ? "" : kind === "numeric" ? row[i] : categories.indexOf(row[i]);
    });
    byId("demo-number").textContent = `Row ${example + 1} of ${loanTree.VECTORS.length}`;
    example = (example + 1) % loanTree.VECTORS.length;
    show();
  }

  const equal = loanTree.VECTORS.length - loanTree.check();
  byId("demo-check").textContent = `Checked just now in this browser: ${equal} of ${loanTree.VECTORS.length} rows have the same node, the same probabilities to the last bit and the same class as in Python.`;
  byId("demo-form").addEventListener("submit", (event) => event.preventDefault());
  byId("demo-form").addEventListener("input", () => { byId("demo-number").textContent = "Your own row"; show(); });
  byId("demo-next").addEventListener("click", fill);
  fill();
})();
