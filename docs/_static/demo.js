// The form of the demo page: reads a row, asks the exported tree, and shows the prediction with its path and rule.
"use strict";
(() => {
  const { level, features, parent, because, rule, rows, belief, low, high } = loanFacts;
  const byId = (id) => document.getElementById(id);
  const digits = (p) => p.toFixed(3);

  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

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

  function show() {
    const row = fields.map((input, i) => valueOf(input, features[i]));
    const wrong = row.findIndex((value) => Number.isNaN(value));
    fields.forEach((input, i) => input.setAttribute("aria-invalid", String(i === wrong)));
    byId("demo-problem").textContent = wrong < 0 ? "" : `${features[wrong].name}: “${fields[wrong].value}” is not a number.`;
    if (wrong >= 0) {
      byId("demo-answer").replaceChildren();
      return;
    }
    const node = loanTree.node(row);
    const probabilities = loanTree.probabilities(row);
    const decided = loanTree.predict(row);
    const k = loanTree.CLASSES.indexOf(decided);
    const value = (p) => element("span", {}, element("data", { value: p }, digits(p)), " ", element("meter", { min: 0, max: 1, value: p, "aria-hidden": "true" }));
    byId("demo-answer").replaceChildren(
      element("p", { class: "demo-verdict" }, `${decided} `, element("b", {}, digits(probabilities[k]))),
      table("demo-classes", ["class", "probability", `${100 * level} % interval`],
        probabilities.map((p, c) => [loanTree.CLASSES[c], value(p), `${digits(low[node][c])} to ${digits(high[node][c])}`])),
      element("p", {}, element("b", {}, "Rule: "), element("span", { id: "demo-rule" }, `if ${rule[node]}, then ${decided}`), ` (${rows[node]} training rows).`),
      table("demo-path", ["node", "rows", `P(${decided})`, "because"],
        pathTo(node).map((at) => [String(at), String(rows[at]), digits(belief[at][k]), because[at]])),
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
