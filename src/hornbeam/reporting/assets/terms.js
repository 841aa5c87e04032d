// The terms of nodes with slopes: what the values of a row change on its path.

const { slopes } = data; // null if no node has a term

// The words of a node's own terms.
const wordsOfTerms = (node) => (slopes && slopes.words[node]) || [];

// The list of the own terms of nodes; those of inner nodes begin with the rows they hold for. Nothing without terms.
function termList(...of) {
  const scope = (node) => (isLeaf(node) ? "" : `for ${node ? wayTo(node).join(" and ") : "all rows"}: `);
  const words = of.flatMap((node) => wordsOfTerms(node).map((line) => scope(node) + line));
  return words.length ? el("ul", { class: "terms" }, ...words.map((line) => el("li", {}, line))) : "";
}

// The terms of inner nodes, which a list of leaves has once, above all leaves.
const sharedTerms = () => termList(...Object.keys(slopes ? slopes.words : {}).map(Number).filter((node) => !isLeaf(node)));

// The terms of the path of a node, feature by feature; terms of a number on two nodes of the path stay apart.
function termsByFeature(node) {
  const found = new Map();
  if (slopes) {
    slopes.node.forEach((of, term) => {
      if (of !== node) return;
      const feature = slopes.feature[term];
      const key = slopes.category[term] < 0 ? `term ${term}` : feature;
      found.set(key, { feature, terms: [...(found.get(key)?.terms || []), term] });
    });
  }
  return [...found.values()];
}

// What one term adds to each score, or to the mean; nothing for a missing value.
function change(term, value) {
  if (value === MISSING) return new Array(K).fill(0);
  const [category, from, to] = [slopes.category[term], slopes.low[term], slopes.high[term]];
  const seen = category >= 0 ? Number(value === category) : Math.min(Math.max(value, from), to);
  return slopes.slope[term].map((slope) => slope * (seen - slopes.centre[term]));
}

const added = (one, other) => Array.from(one, (value, k) => value + other[k]);

// The sum of the terms of each feature at a node, and their effect one after the other.
function effectsAt(node, values) {
  let score = Array.from(at(belief, node), (p) => (regression ? p : Math.log(p)));
  return termsByFeature(node).map(({ feature, terms }) => {
    const before = score;
    terms.forEach((term) => { score = added(score, change(term, values[feature])); });
    return { feature, terms, before, score };
  });
}

function softmax(score) {
  const most = Math.max(...score);
  const powers = score.map((value) => Math.exp(value - most));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

// The log odds of class k against all others.
function logOdds(score, k) {
  const others = score.filter((_, j) => j !== k);
  const most = Math.max(...others);
  return score[k] - most - (most === -Infinity ? 0 : Math.log(sum(others.map((value) => Math.exp(value - most)))));
}

// The prediction of a row: that of the nodes where it stops, changed by the terms of its path.
function predictionOf(stops, values) {
  const base = { p: mixed(belief, stops), low: mixed(low, stops), high: mixed(high, stops), effects: [] };
  const effects = stops.length === 1 ? effectsAt(stops[0][0], values) : [];
  if (!effects.length) return { ...base, k: regression ? 0 : decide(base.p) };
  const [{ before: start }, { score }] = [effects[0], effects[effects.length - 1]];
  if (regression) {
    const moved = (bounds) => bounds.map((bound) => bound + score[0] - start[0]);
    return { p: score, low: moved(base.low), high: moved(base.high), effects, k: 0 };
  }
  const p = softmax(score);
  const moved = (bounds) => bounds.map((bound, k) => {
    const shift = logOdds(score, k) - logOdds(start, k);
    return bound <= 0 || bound >= 1 || Number.isNaN(shift) ? bound : 1 / (1 + (1 / bound - 1) * Math.exp(-shift));
  });
  // Without costs the largest score decides, before it is rounded to a probability.
  const k = data.loss ? decide(p) : score.indexOf(Math.max(...score));
  return { p, low: moved(base.low), high: moved(base.high), effects, k };
}

function factorWords(logFactor) {
  const power = logFactor / Math.LN10;
  return Math.abs(power) >= 5 ? `10^${Number(power.toPrecision(3))}` : String(Number(Math.exp(logFactor).toPrecision(3)));
}

// One line for each feature with a term: the value of the row and its effect.
function effectWords({ feature, terms: [term], before, score }, values, k) {
  const name = shortened(nameOf(feature), 60);
  const value = values[feature];
  if (value === MISSING) return `${name} is missing: no change`;
  const said = value === UNSEEN ? "a new value" : features[feature].categories ? shortened(wordOf(feature, value), 40) : String(value);
  const limit = Math.min(Math.max(value, slopes.low[term]), slopes.high[term]);
  const taken = slopes.category[term] < 0 && limit !== value ? `, taken as ${cut(feature, limit)}` : "";
  if (regression) return `${name} is ${said}${taken}: mean ${score[0] < before[0] ? "−" : "+"}${meanWords(Math.abs(score[0] - before[0]))}`;
  const shift = logOdds(score, k) - logOdds(before, k);
  return `${name} is ${said}${taken}: odds of ${shortened(classes[k], 40)} × ${factorWords(Number.isNaN(shift) ? 0 : shift)}`;
}
