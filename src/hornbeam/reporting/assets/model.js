// The tree as arrays, and the walk of a row through it: the same as the model's own, bit for bit.

const { classes, features, nodes, regression } = data; // in regression the mean takes the place of one "class"
const N = nodes.children.length;
const K = classes.length;
const MISSING = null;
const UNSEEN = -1;

function unpack(text, type) {
  return new type(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

const threshold = nodes.threshold.map((t) => (t === null ? NaN : Number(t)));
const belief = unpack(nodes.belief, Float64Array);
const bound = (packed) => (regression ? unpack(packed, Float64Array) : Float64Array.from(unpack(packed, Uint16Array), (step) => step / 65535));
const low = bound(nodes.low);
const high = bound(nodes.high);
const rawMeans = regression && unpack(nodes.raw, Float64Array);
const lowest = Math.min(...belief);
const highest = Math.max(...belief);
// Where a mean lies from the lowest to the highest, or a probability from 0 to 1.
const onScale = (p) => (regression ? Math.min(Math.max((p - lowest) / (highest - lowest || 1), 0), 1) : p);
const shares = nodes.share && unpack(nodes.share, Float64Array);

// Level order: siblings sit together, parents come before children.
const parent = new Int32Array(N).fill(-1);
const first = new Int32Array(N).fill(-1);
const depth = new Int32Array(N);
for (let node = 0, next = 1; node < N; node += 1) {
  if (nodes.children[node]) first[node] = next;
  for (let slot = 0; slot < nodes.children[node]; slot += 1, next += 1) {
    parent[next] = node;
    depth[next] = depth[node] + 1;
  }
}

const isLeaf = (node) => nodes.children[node] === 0;
const childrenOf = (node) => Array.from({ length: nodes.children[node] }, (_, slot) => first[node] + slot);
const at = (array, node) => array.subarray(node * K, node * K + K);
const mostProbable = (p) => p.indexOf(Math.max(...p));
const { positive } = data; // the class of interest, or null

// The class that is decided for: as the model's own rule, least expected cost, the first of equals.
function decide(p) {
  if (!data.loss) return mostProbable(p);
  const cost = new Array(K).fill(0);
  data.loss.forEach((row, truth) => row.forEach((each, k) => { cost[k] += p[truth] * each; }));
  const slack = 1e-12 * Math.max(...data.loss.flat().map(Math.abs));
  const least = Math.min(...cost);
  return cost.findIndex((each) => each <= least + slack);
}

const decidedAt = (node) => (regression ? 0 : nodes.decided[node]);

function pathTo(node) {
  const path = [];
  for (; node >= 0; node = parent[node]) path.unshift(node);
  return path;
}

// What stops at each node, added up from the leaves: the evidence of every node.
function pulledUp(own, unit) {
  const sum = new Float64Array(N * K);
  for (let node = N - 1; node >= 0; node -= 1) {
    const counts = own[node] || [];
    for (let i = 0; i < counts.length; i += 2) sum[node * K + counts[i]] += counts[i + 1];
    if (node) for (let k = 0; k < K; k += 1) sum[parent[node] * K + k] += sum[node * K + k];
  }
  return sum.map((steps) => steps * unit);
}

const evidence = pulledUp(nodes.own, data.unit);
const leavesBelow = new Int32Array(N);
for (let node = N - 1; node >= 0; node -= 1) {
  if (isLeaf(node)) leavesBelow[node] = 1;
  if (node) leavesBelow[parent[node]] += leavesBelow[node];
}

// The test rows: how many of each class came to each node, and what stopped there.
const test = data.test && (() => {
  const own = [];
  const odd = new Map();
  data.test.node.forEach((node, i) => {
    own[node] = data.test.counts[i];
    odd.set(node, data.test.odd[i]);
  });
  const means = new Map(regression ? data.test.node.map((node, i) => [node, data.test.mean[i]]) : []);
  const sums = regression && pulledUp(own.map((counts, node) => [0, (counts[1] || 0) * means.get(node)]), 1);
  return { own, counts: pulledUp(own, 1), odd, means, sums };
})();
const sum = (counts) => counts.reduce((total, count) => total + count, 0);

// Where a value leads: a child, or -1 where the row stops. Values are numbers, or codes of categories.
function step(node, value) {
  if (value === MISSING) return nodes.missing[node] < 0 ? -1 : first[node] + nodes.missing[node];
  if (!Number.isNaN(threshold[node])) return first[node] + (value > threshold[node] ? 1 : 0);
  const slot = value === UNSEEN ? -1 : nodes.slots[node][value];
  return slot < 0 ? -1 : first[node] + slot;
}

// The nodes that answer for a row, each with its share: several where a missing value goes to every child.
function stopsOf(values) {
  const stops = [];
  const waiting = [[0, 1]];
  while (waiting.length) {
    let [node, share] = waiting.pop();
    for (let next = node; next >= 0; ) {
      node = next;
      next = isLeaf(node) ? -1 : step(node, values[nodes.feature[node]]);
    }
    const split = !isLeaf(node) && nodes.missing[node] === -2 && values[nodes.feature[node]] === MISSING;
    const parts = split ? childrenOf(node).filter((child) => shares[child] > 0) : [];
    for (const child of parts.reverse()) waiting.push([child, share * shares[child]]);
    if (!parts.length) stops.push([node, share]);
  }
  return stops;
}

function mixed(array, stops) {
  const total = new Array(K).fill(0);
  for (const [node, share] of stops) at(array, node).forEach((p, k) => { total[k] += share * p; });
  return total;
}

// ------------------------------------------------------------------------------------------ reading values

const codes = features.map((feature) => feature.categories
  && new Map(feature.categories.map((category, code) => [String(category), code])));
const NOTHING = new Set(["", "na", "n/a", "nan", "null", "none", "?"]);

// What a text means for a feature: a number, a code, MISSING; undefined if it is no number where one is due.
function valueOf(feature, text) {
  const { kind, zero, other, categories } = features[feature];
  const nothing = NOTHING.has(text.trim().toLowerCase());
  if (kind === "numeric") {
    if (nothing) return MISSING;
    const number = Number(text.trim().replace(/^([+-]?)inf$/i, "$1Infinity"));
    if (Number.isNaN(number)) return undefined;
    return zero !== undefined && Math.abs(number) <= zero ? MISSING : number;
  }
  const code = codeOf(feature, text);
  if (code !== undefined) return code;
  if (nothing || kind === "ordinal") return MISSING;
  return other ? categories.length - 1 : UNSEEN;
}

function codeOf(feature, text) {
  const known = codes[feature];
  for (const word of [text, text.trim(), text.trim().toLowerCase()]) {
    const code = known.get(word);
    if (code !== undefined && (word === text || word === text.trim() || typeof features[feature].categories[code] === "boolean")) {
      return code;
    }
  }
  return text.trim() === "" ? undefined : known.get(String(Number(text)));
}
