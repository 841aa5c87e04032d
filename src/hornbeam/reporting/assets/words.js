// Tests, rules and numbers in words.

const nameOf = (feature) => features[feature].word || features[feature].name;
const wordOf = (feature, code) => (features[feature].words || {})[code] ?? String(features[feature].categories[code]);

// A probability that is not 1 must not look like it. Ties, odd sixteenths, go to the even digit, as in Python.
const probabilityWords = (p) => (p < 1 ? Math.min((p * 16) % 4 === 1 ? p - 1e-9 : p, 0.999) : p).toFixed(3);
// A mean in four digits; none before the point is rounded away.
const meanWords = (p) => (Math.abs(p) >= 1000 && Math.abs(p) < 1e9 ? p.toFixed(0) : String(Number(p.toPrecision(4)))).replace("-", "−");
const probability = regression ? meanWords : probabilityWords;
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const amount = (n) => n.toLocaleString("en", { maximumFractionDigits: n < 100 ? 1 : 0 });
const counted = (n, one, many = `${one}s`) => `${amount(n)} ${n === 1 ? one : many}`;
const shortened = (words, most) => (words.length <= most ? words : `${words.slice(0, most - 1)}…`);

function cut(feature, t) {
  const { kind, categories } = features[feature];
  return kind === "ordinal" && t >= 0 && t < categories.length ? wordOf(feature, Math.floor(t)) : String(t);
}

// What a branch asks for: bounds, or a set of categories, or nothing but a missing value.
function demandOf(child) {
  const node = parent[child];
  const feature = nodes.feature[node];
  const slot = child - first[node];
  const missing = nodes.missing[node] === slot;
  const inPart = nodes.missing[node] === -2;
  if (Number.isNaN(threshold[node])) {
    const set = new Set(nodes.slots[node].flatMap((to, code) => (to === slot ? [code] : [])));
    return { feature, set, missing, inPart };
  }
  if (slot === 2) return { feature, missing: true, only: true };
  return slot === 0
    ? { feature, above: -Infinity, most: threshold[node], missing, inPart }
    : { feature, above: threshold[node], most: Infinity, missing, inPart };
}

// Two demands on the same feature, both to be met.
function both(one, other) {
  const missing = one.missing && other.missing;
  const inPart = (one.inPart || one.missing) && (other.inPart || other.missing) && !missing;
  if (one.only || other.only) return { feature: one.feature, missing: true, only: true };
  if (one.set) {
    return { feature: one.feature, set: new Set([...one.set].filter((c) => other.set.has(c))), missing, inPart };
  }
  return {
    feature: one.feature,
    above: Math.max(one.above, other.above),
    most: Math.min(one.most, other.most),
    missing,
    inPart,
  };
}

// The categories of a set; those that are not in it where that list is shorter.
function listed(feature, set) {
  const all = features[feature].categories.length;
  const leftOut = set.size > 3 && 2 * set.size > all;
  const codes = leftOut ? Array.from({ length: all }, (_, code) => code).filter((code) => !set.has(code)) : [...set];
  const words = codes.map((code) => wordOf(feature, code));
  if (!words.length) return "known";
  if (words.length === 1) return `${leftOut ? "≠" : "="} ${words[0]}`;
  return `${leftOut ? "not in" : "in"} {${words.join(", ")}}`;
}

function conditionOf(demand, name = "") {
  const { feature, above, most, set, missing, only, inPart } = demand;
  const whose = name ? `${name} ` : "";
  if (only) return `${whose}${name ? "is " : ""}missing`;
  let words;
  if (set) words = set.size ? whose + listed(feature, set) : `${whose}${name ? "is " : ""}missing`;
  else if (most === Infinity && above === -Infinity) words = `${whose}${name ? "is " : ""}known`;
  else if (above === -Infinity) words = `${whose}≤ ${cut(feature, most)}`;
  else if (most === Infinity) words = `${whose}> ${cut(feature, above)}`;
  else words = `${cut(feature, above)} < ${name} ≤ ${cut(feature, most)}`;
  if (set && !set.size) return words;
  return words + (missing ? " or missing" : inPart ? ", or missing in part" : "");
}

// The branch that leads to a node, without the name of what is asked.
const branchOf = (node) => (node === 0 ? "all rows" : conditionOf(demandOf(node)));

// All that leads to a node, one condition a feature.
function wayTo(node) {
  const demands = new Map();
  for (const child of pathTo(node).slice(1)) {
    const demand = demandOf(child);
    const before = demands.get(demand.feature);
    demands.set(demand.feature, before ? both(before, demand) : demand);
  }
  return [...demands.values()].map((demand) => conditionOf(demand, nameOf(demand.feature)));
}

const interval = (node, k) => `${probability(at(low, node)[k])} to ${probability(at(high, node)[k])}`;

// The head of the probabilities of the class of interest.
const headOfClass = (most = 40) => `P(${shortened(classes[positive], most)})`;

// The prediction of a node in one line: with a class of interest its probability, apart from the decision.
function answerOf(node) {
  const p = at(belief, node);
  if (regression) return probability(p[0]);
  const decided = shortened(classes[decidedAt(node)], 40);
  return positive === null ? `${decided} ${probability(p[decidedAt(node)])}` : `${headOfClass()} ${probability(p[positive])}, decision ${decided}`;
}

// The same for the picture, whose key has the head.
function shortAnswerOf(node) {
  if (regression || positive === null) return answerOf(node);
  return `${probability(at(belief, node)[positive])} → ${classes[decidedAt(node)]}`;
}
