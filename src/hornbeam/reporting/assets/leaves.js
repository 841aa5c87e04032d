// The leaf table, and the rules.

const MOST_LEAVES = 200;
const listedNodes = Array.from({ length: N }, (_, node) => node)
  .filter((node) => isLeaf(node) || nodes.own[node].length || (test && test.own[node]));
const heaviestFirst = [...listedNodes].sort((a, b) => nodes.rows[b] - nodes.rows[a] || a - b);
const spokenClass = (node) => positive ?? decidedAt(node);

function leafOf(node) {
  const k = spokenClass(node);
  const counts = at(evidence, node);
  const own = nodes.own[node].filter((_, i) => i % 2).reduce((all, steps) => all + steps * data.unit, 0);
  const seen = test && ownTest(node);
  const came = seen && sum(seen);
  return {
    node,
    k,
    rows: isLeaf(node) ? nodes.rows[node] : own,
    decision: classes[decidedAt(node)],
    raw: regression ? rawMeans[node] : sum(counts) ? counts[k] / sum(counts) : NaN,
    probability: at(belief, node)[k],
    low: at(low, node)[k],
    high: at(high, node)[k],
    borrowed: nodes.borrowed[node],
    test: came,
    seen: came ? (regression ? test.means.get(node) : seen[k] / came) : null,
    odd: test && test.odd.get(node) !== undefined ? test.odd.get(node) : null,
  };
}

function ownTest(node) {
  const counts = new Array(K).fill(0);
  const own = test.own[node] || [];
  for (let j = 0; j < own.length; j += 2) counts[own[j]] += own[j + 1];
  return counts;
}

const COLUMNS = [
  { key: "node", head: "Leaf", cell: (leaf) => nodeButton(leaf.node) },
  { key: "rows", head: "Rows", cell: (leaf) => amount(leaf.rows) },
  ...(regression ? [] : [{ key: "decision", head: "Decision", text: true, cell: (leaf) => shortened(leaf.decision, 28) }]),
  { key: "raw", head: "Raw", cell: (leaf) => (Number.isNaN(leaf.raw) ? "–" : probability(leaf.raw)) },
  { key: "probability", head: regression ? "Mean" : positive === null ? "Probability" : headOfClass(18), cell: (leaf) => el("b", {}, number(leaf.probability, probability(leaf.probability))) },
  { key: "low", head: `${+(100 * data.level).toFixed(6)} % interval`, cell: (leaf) => `${probability(leaf.low)} to ${probability(leaf.high)}` },
  { key: "picture", head: regression ? "Low to high" : "0 to 1", cell: (leaf) => whisker(leaf.probability, leaf.low, leaf.high, leaf.seen) },
  { key: "borrowed", head: "Borrowed", cell: (leaf) => amount(leaf.borrowed) },
  ...(test ? [
    { key: "test", head: "Test rows", cell: (leaf) => amount(leaf.test) },
    { key: "seen", head: "Seen", cell: (leaf) => (leaf.seen === null ? "–" : probability(leaf.seen)) },
    { key: "odd", head: "P-value", cell: (leaf) => (leaf.odd === null ? "–" : leaf.odd < 0.001 ? "< 0.001" : leaf.odd.toFixed(3)) },
  ] : []),
];

function nodeButton(node) {
  const name = isLeaf(node) ? String(node) : `${node} (stopped)`;
  return el("button", { type: "button", class: "quiet-button", title: "Show it in the tree", onclick: () => showInTree(node) }, name);
}

function compare(key, way) {
  return (a, b) => {
    const [one, other] = [a[key], b[key]];
    if (one === null || other === null) return (one === null) - (other === null);
    return way * (typeof one === "string" ? one.localeCompare(other) : one - other) || a.node - b.node;
  };
}

function leafTable() {
  const leaves = heaviestFirst.map(leafOf);
  const body = el("tbody");
  const heads = COLUMNS.map(({ key, head, text }) => {
    const th = el("th", { scope: "col", class: text ? "text" : null });
    if (key === "picture") th.append(head);
    else th.append(el("button", { type: "button", class: "sort", onclick: () => sort(key, th) }, head));
    return th;
  });
  // The terms of a leaf have a line of their own below it.
  const line = (leaf) => {
    const row = cellsOf(leaf);
    const terms = isLeaf(leaf.node) && termList(leaf.node);
    if (!terms) return row;
    const both = document.createDocumentFragment();
    row.className = "has-terms";
    both.append(row, el("tr", {}, el("td", { class: "text", colspan: COLUMNS.length }, terms)));
    return both;
  };
  const cellsOf = (leaf) => el("tr", {}, ...COLUMNS.map(({ cell, text, key }) => el("td", { class: text ? "text" : key === "odd" && leaf.odd !== null && leaf.odd < 0.05 ? "odd" : null }, cell(leaf))));
  function sort(key, th) {
    const way = th.getAttribute("aria-sort") === "descending" ? 1 : -1;
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", way < 0 ? "descending" : "ascending");
    capped(leaves.sort(compare(key, way)), MOST_LEAVES, line, body, byId("leaf-more"), "leaves");
  }
  byId("leaf-table").parentElement.before(sharedTerms());
  byId("leaf-table").append(el("thead", {}, el("tr", {}, ...heads)), body);
  sort("rows", heads[1]);
}

const MOST_RULES = 60;

function ruleOf(node) {
  const conditions = wayTo(node);
  const k = spokenClass(node);
  const p = at(belief, node);
  const parts = conditions.flatMap((words, i) => [i ? " and " : "If ", el("span", { class: "condition" }, words)]);
  const answer = regression
    ? [", then ", el("b", {}, probability(p[0]))]
    : [", then ", el("b", {}, classes[decidedAt(node)]), k === decidedAt(node) ? " with probability " : `: probability of ${classes[k]} `, el("b", {}, probability(p[k]))];
  return el("li", {},
    ...(parts.length ? parts : ["For every row"]), ...answer,
    el("span", { class: "soft" }, ` (${interval(node, k)}; ${counted(nodes.rows[node], "row")})`),
    termList(node));
}

function ruleList() {
  const list = byId("rule-list");
  if (!list) return;
  list.before(sharedTerms());
  capped(heaviestFirst.filter(isLeaf), MOST_RULES, ruleOf, list, byId("rule-more"), "rules");
}
