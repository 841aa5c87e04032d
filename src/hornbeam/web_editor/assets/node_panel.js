// All about the chosen node, and what can be done with it.

let reason = ""; // stays until it is used

const MOST_LISTED = 8;

function candidateRow(shown, view, act, one) {
  const name = shown.nameOf(one.feature);
  const heldOut = one.held_out === null ? "–" : `${one.held_out.toFixed(4)}${one.error === null ? "" : ` ± ${one.error.toFixed(4)}`}`;
  const doubtful = one.held_out !== null && one.error !== null && one.held_out < 2 * one.error;
  return el("tr", { class: one.chosen ? "chosen" : null },
    el("th", { scope: "row" }, one.text, one.rejected ? el("small", {}, ` ${one.rejected}`) : null),
    el("td", {}, one.gain.toPrecision(3)),
    view.tested ? el("td", { class: doubtful ? "soft" : null }, heldOut) : null,
    el("td", {}, one.chosen ? "in use" : el("button", { type: "button", "aria-label": `Use the split of ${name}`,
      onclick: () => act({ do: "split", node: view.node, feature: one.feature }) }, "Use")));
}

function candidateTable(shown, view, act) {
  if (!view.candidates.length) return el("p", { class: "note" }, "No feature has two values here.");
  const rows = view.candidates.map((one) => candidateRow(shown, view, act, one));
  const body = el("tbody", {}, ...rows.slice(0, MOST_LISTED));
  const table = el("table", { class: "candidates" },
    el("thead", {}, el("tr", {}, ...["Split", "Gain", ...(view.tested ? ["Held-out gain"] : [])].map((words) => el("th", { scope: "col" }, words)),
      el("td", {}, ""))), body);
  if (rows.length <= MOST_LISTED) return table;
  const more = el("button", { type: "button", class: "quiet-button", onclick: () => { body.append(...rows.slice(MOST_LISTED)); more.remove(); } },
    `${rows.length - MOST_LISTED} more features`);
  return el("div", {}, table, more);
}

function histogramOf(shown, view) {
  const { histogram, split } = view;
  if (!histogram) return null;
  const named = { ...shown, column: histogram.feature };
  const missing = histogram.missing ? el("p", { class: "note" }, `${shown.counted(histogram.missing, "row")} without a value.`) : null;
  if (histogram.edges && histogram.edges.length) {
    return el("div", {}, el("h3", {}, `Values of ${shown.nameOf(histogram.feature)}`), numericHistogram(named, histogram, split?.value), missing);
  }
  if (split?.groups || !histogram.codes) return missing; // the form below has the bars
  const total = (bar) => bar.reduce((a, b) => a + b, 0);
  const largest = Math.max(1, ...histogram.counts.map(total));
  return el("div", {}, el("h3", {}, `Categories of ${shown.nameOf(histogram.feature)}`), el("div", { class: "groups" },
    ...histogram.codes.map((code, i) => el("div", { class: "group" }, el("span", { class: "name" }, shown.wordOf(histogram.feature, code)),
      categoryBar(shown, histogram.counts[i], largest), el("span", { class: "number" }, shown.amount(total(histogram.counts[i])))))), missing);
}

function nodePanel(shown, view, act) {
  const { node } = view;
  const inner = !shown.isLeaf(node);
  const field = el("input", { id: "reason", type: "text", value: reason, maxlength: 10000, autocomplete: "off", oninput: (event) => { reason = event.target.value; } });
  byId("node-forms").replaceChildren(...[
    histogramOf(shown, view),
    el("div", { class: "line reason" }, labelled("Reason for the next edit (optional)", field)),
    el("div", { class: "line" },
      inner ? el("button", { type: "button", id: "prune", onclick: () => act({ do: "prune", node }) }, "Prune") : null,
      el("button", { type: "button", id: "grow", onclick: () => act({ do: "grow", node, levels: 1 }) }, "Grow one level"),
      el("button", { type: "button", onclick: () => act({ do: "grow", node }) }, "Grow fully")),
    view.limit ? el("p", { class: "note" }, `Growing stops here: ${view.limit}.`) : null,
    ownSplitForm(shown, view, act),
    termForms(shown, view, act),
    el("h3", {}, inner ? "Other splits" : "Possible splits"),
    candidateTable(shown, view, act),
    forcedSplitForm(shown, view, act),
  ].filter((part) => part !== null));
}
