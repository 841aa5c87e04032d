// One row, asked in the page: a form, a place to paste, and the answer.

const MOST_OPTIONS = 500;
const used = [...new Set([...nodes.feature.filter((feature) => feature >= 0), ...(slopes ? slopes.feature : [])])].sort((a, b) => a - b);
const row = features.map(() => MISSING);
const fields = new Map();

// Features of the form: those the tree asks, a list of categories or a free value.
function field(feature) {
  const { kind, categories, other } = features[feature];
  const id = `field-${feature}`;
  let input;
  if (kind === "numeric" || categories.length > MOST_OPTIONS) {
    input = el("input", { id, type: "text", inputmode: kind === "numeric" ? "decimal" : null, placeholder: "missing" });
  } else {
    const options = categories.map((_, code) => el("option", { value: code }, shortened(wordOf(feature, code), 60)));
    input = el("select", { id }, el("option", { value: "" }, "missing"), ...options,
      kind === "nominal" && !other ? el("option", { value: UNSEEN }, "another value") : null);
  }
  input.addEventListener("input", () => { take(feature, input); ask(); });
  fields.set(feature, input);
  return el("div", { class: "field" }, el("label", { for: id, title: nameOf(feature) }, shortened(nameOf(feature), 60)), input);
}

function take(feature, input) {
  const value = input.tagName === "SELECT"
    ? (input.value === "" ? MISSING : Number(input.value))
    : valueOf(feature, input.value);
  const wrong = value === undefined;
  input.toggleAttribute("aria-invalid", wrong);
  if (wrong) input.setAttribute("aria-invalid", "true");
  byId("row-problem").textContent = wrong ? `${shortened(nameOf(feature), 60)}: “${shortened(input.value, 40)}” is not a number.` : "";
  row[feature] = wrong ? MISSING : value;
}

// The prediction in large letters: with a class of interest its probability, and below it the decision.
function verdict(p, k) {
  const decided = el("span", { class: "decided" }, regression ? "mean" : shortened(classes[k], 60));
  const large = (head, value) => el("p", { class: "verdict" }, head, " ", el("b", {}, probability(value)));
  if (regression || positive === null) return [large(decided, p[k])];
  return [large(headOfClass(60), p[positive]), el("p", {}, "Decision: ", decided)];
}

// The answer, where it comes from, and the way there in the tree.
function ask(show = true) {
  const stops = stopsOf(row);
  const { p, low: from, high: to, effects, k } = predictionOf(stops, row);
  const [node] = stops[0];
  const where = stops.length > 1
    ? `Because of missing values, ${stops.length} nodes predict this row together, each with its share.`
    : isLeaf(node) ? `Predicted by leaf ${node}, with ${counted(nodes.rows[node], "training row")}.`
      : `The value of ${shortened(nameOf(nodes.feature[node]), 60)} is missing or new, so the row stops at node ${node} and is predicted there, with ${counted(nodes.rows[node], "training row")}.`;
  const likelier = regression || p[k] === Math.max(...p) ? ""
    : el("p", { class: "soft" }, `${shortened(classes[mostProbable(p)], 60)} is more probable; the costs or class weights of the model decide for ${shortened(classes[k], 60)}.`);
  const way = stops.length > 1 ? [] : wayTo(node);
  byId("row-prediction").replaceChildren(
    ...verdict(p, k),
    likelier,
    classTable(p, from, to),
    el("p", { class: "soft" }, where),
    way.length ? el("ul", { class: "conditions" }, ...way.map((words) => el("li", {}, words))) : "",
    effects.length ? el("p", { class: "soft" }, `${isLeaf(node) ? "The leaf" : "The node"} alone: ${answerOf(node)}. With its terms and those above it:`) : "",
    effects.length ? el("ul", { class: "terms" }, ...effects.map((effect) => el("li", {}, effectWords(effect, row, positive ?? k)))) : "",
    stops.length > 1 ? "" : el("button", { type: "button", class: "quiet-button", onclick: () => showInTree(node) }, "Show in the tree"));
  if (show) showWay(stops);
}

// Splits one line at a separator, but not inside quotes.
function cells(line, separator) {
  const found = [];
  let [cell, quoted] = ["", false];
  for (let i = 0; i < line.length; i += 1) {
    if (line[i] === '"' && quoted && line[i + 1] === '"') { cell += '"'; i += 1; }
    else if (line[i] === '"' && (quoted || cell.trim() === "")) { quoted = !quoted; if (quoted) cell = ""; }
    else if (line[i] === separator && !quoted) { found.push(cell); cell = ""; }
    else cell += line[i];
  }
  return [...found, cell];
}

// What was pasted, as texts by feature; a string says what is wrong with it.
function pasted(text) {
  const trimmed = text.trim();
  if (/^[[{]/.test(trimmed)) {
    let value;
    try { value = JSON.parse(trimmed); } catch { return "This looks like JSON, but it is not valid JSON."; }
    if (Array.isArray(value) && value.length && value[0] !== null && typeof value[0] === "object") [value] = value;
    const said = (v) => (v === null || v === undefined ? "" : String(v));
    if (Array.isArray(value)) return inOrder(value.map(said));
    return byName(new Map(Object.entries(value).map(([name, v]) => [name, said(v)])));
  }
  const lines = text.replace(/\r\n?/g, "\n").replace(/\n+$/, "").split("\n");
  const separator = lines[0].includes("\t") ? "\t" : lines[0].includes(",") || !lines[0].includes(";") ? "," : ";";
  const head = cells(lines[0], separator);
  if (lines.length === 1) return inOrder(head);
  const values = cells(lines[1], separator);
  return byName(new Map(head.map((name, i) => [name.trim(), values[i] ?? ""])));
}

function inOrder(values) {
  if (values.length !== features.length) {
    return `A row without names needs ${features.length} values, in the order of the features; this one has ${values.length}.`;
  }
  return new Map(values.map((value, feature) => [feature, value]));
}

function byName(values) {
  const known = features.flatMap(({ name }, f) => {
    const value = values.get(name) ?? values.get(name.trim());
    return value === undefined ? [] : [[f, value]];
  });
  return known.length ? new Map(known) : "None of the names is a feature of this tree.";
}

function paste(text) {
  const found = text.trim() === "" ? new Map() : pasted(text);
  byId("row-problem").textContent = "";
  if (typeof found === "string") { byId("row-problem").textContent = found; return; }
  features.forEach((_, f) => {
    const value = found.has(f) ? valueOf(f, found.get(f)) : MISSING;
    if (value === undefined) byId("row-problem").textContent = `${shortened(nameOf(f), 60)}: “${shortened(found.get(f), 40)}” is not a number.`;
    row[f] = value === undefined ? MISSING : value;
    const input = fields.get(f);
    if (!input) return;
    input.removeAttribute("aria-invalid");
    input.value = input.tagName === "SELECT" ? (row[f] === MISSING ? "" : row[f]) : found.get(f) ?? "";
  });
  ask();
}

function rowForm() {
  byId("row-fields").append(...used.map(field));
  byId("row-form").addEventListener("submit", (event) => event.preventDefault());
  byId("row-paste").addEventListener("input", (event) => paste(event.target.value));
  const example = used.slice(0, 3).map((f) => shortened(features[f].name, 20)).join(",");
  byId("row-paste").placeholder = `${example}${used.length > 3 ? ",…" : ""}`;
  ask(false);
}
