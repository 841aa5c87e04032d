// Forms that change a split: a threshold, or the child of each category.

const MISSING_WORDS = { "": "stop at the node", left: "first child", right: "second child", own: "a child of their own" };

const labelled = (words, field) => el("label", {}, el("span", {}, words), field);
const choice = (options, chosen, attributes = {}) => el("select", attributes,
  ...options.map(([value, words]) => el("option", { value, selected: value === chosen }, words)));

// A number, or a category of an ordinal feature.
function thresholdField(shown, feature, value) {
  const { kind, categories } = shown.features[feature];
  if (kind === "numeric") {
    return el("input", { type: "number", step: "any", required: true, name: "value", value: value ?? null, autocomplete: "off" });
  }
  return choice(categories.slice(0, -1).map((_, code) => [String(code), shown.wordOf(feature, code)]), String(value ?? 0), { name: "value" });
}

// A line for each category: its name, its rows by class, and the child it goes to.
function groupFields(shown, feature, groups, histogram) {
  const { categories } = shown.features[feature];
  const counts = new Map((histogram?.codes ?? []).map((code, i) => [code, histogram.counts[i]]));
  const total = (bar) => (bar ?? []).reduce((a, b) => a + b, 0);
  const largest = Math.max(1, ...[...counts.values()].map(total));
  const n = Math.max(groups.length, 2);
  const childOf = (code) => String(groups.findIndex((group) => group.includes(code)));
  const children = [...Array.from({ length: n }, (_, i) => [String(i), `child ${i + 1}`]), ["-1", "none"]];
  return el("div", { class: "groups" }, ...categories.map((_, code) => {
    const words = shown.wordOf(feature, code);
    return el("label", { class: "group" }, el("span", { class: "name", title: words }, words),
      counts.has(code) ? categoryBar(shown, counts.get(code), largest) : el("span", {}),
      el("span", { class: "number" }, shown.amount(total(counts.get(code)))),
      choice(children, childOf(code), { "data-code": code }));
  }));
}

function chosenGroups(form) {
  const groups = [];
  form.querySelectorAll("select[data-code]").forEach((field) => {
    const child = Number(field.value);
    if (child >= 0) (groups[child] ??= []).push(Number(field.dataset.code));
  });
  return Array.from(groups, (group) => group ?? []).filter((group) => group.length);
}

const ended = (make) => (event) => { event.preventDefault(); make(event.currentTarget); };

// Changes the split that a node has; the splits below stay.
function ownSplitForm(shown, view, act) {
  const { split, node, histogram } = view;
  if (!split || (split.value === undefined && !split.groups)) return null;
  const name = shown.nameOf(split.feature);
  if (split.groups) {
    return el("form", { onsubmit: ended((form) => act({ do: "groups", node, groups: chosenGroups(form) })) },
      el("h3", {}, `Categories of ${name}`), groupFields(shown, split.feature, split.groups, histogram),
      el("button", { type: "submit" }, "Move categories"));
  }
  const round = (split.round ?? []).map((value) => el("button", { type: "button", class: "round",
    onclick: () => act({ do: "threshold", node, value }) }, `Round to ${value}`));
  return el("form", { onsubmit: ended((form) => act({ do: "threshold", node, value: Number(form.elements.value.value) })) },
    el("h3", {}, `Threshold of ${name}`),
    el("div", { class: "line" }, labelled("At most", thresholdField(shown, split.feature, split.value)), el("button", { type: "submit" }, "Move"), ...round));
}

// A term of the node: removed, rounded, fitted to the rows again, or set to an effect.
function termForm(shown, view, act, term) {
  const { node } = view, { feature } = term;
  const button = (words, what) => el("button", { type: "button", "aria-label": `${words} the term of ${shown.nameOf(feature)}`,
    onclick: () => act({ do: what, node, feature }) }, words);
  const line = el("div", { class: "line" }, button("Drop", "drop_term"), button("Round", "round_terms"), button("Refit", "refit_terms"));
  const form = term.effects === null ? null : el("form", { onsubmit: ended((sent) => act({ do: "set_term", node, feature, per: term.per,
    value: Number(sent.elements.value.value), category: term.codes === null ? null : Number(sent.elements.category.value) })) },
    el("div", { class: "line" },
      term.codes === null ? null : labelled("Category", choice(term.codes.map((code) => [String(code), shown.wordOf(feature, code)]), "", { name: "category" })),
      labelled(term.codes === null ? `Effect of +${term.per}` : "Effect", el("input", { type: "number", step: "any", required: true, name: "value",
        value: Number(term.effects[0].toPrecision(4)), autocomplete: "off" })),
      el("button", { type: "submit" }, "Set")));
  return el("div", { class: "term" }, el("p", {}, term.text), line, form);
}

function termForms(shown, view, act) {
  if (!view.terms.length) return null;
  return el("div", { id: "node-terms" }, el("h3", {}, "Terms"), ...view.terms.map((term) => termForm(shown, view, act, term)));
}

// Forces a split of any feature; what is below the node is removed.
function forcedSplitForm(shown, view, act) {
  const { node } = view;
  const place = el("div", { class: "line" });
  const feature = choice(shown.features.map((_, f) => [String(f), shown.nameOf(f)]), String(view.split?.feature ?? view.histogram?.feature ?? 0), { name: "feature" });
  const missing = choice(Object.entries(MISSING_WORDS), "", { name: "missing" });
  const nominal = () => shown.features[Number(feature.value)].kind === "nominal";
  const refill = () => {
    const f = Number(feature.value);
    place.replaceChildren(nominal() ? groupFields(shown, f, [[0]], view.histogram?.feature === f ? view.histogram : null)
      : labelled("At most", thresholdField(shown, f)));
  };
  feature.addEventListener("change", refill);
  refill();
  const make = (form) => act({ do: "split", node, feature: Number(feature.value), missing: missing.value || null,
    ...(nominal() ? { groups: chosenGroups(form) } : { value: Number(form.elements.value.value) }) });
  return el("details", {}, el("summary", {}, "Force a split of your own"),
    el("form", { onsubmit: ended(make) }, labelled("Feature", feature), place, labelled("Missing values go to", missing),
      el("button", { type: "submit" }, "Split")));
}
