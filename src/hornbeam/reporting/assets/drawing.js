// Small pictures and tables of a node.

const number = (value, said) => el("data", { value: String(value) }, said);

// Two classes: the class of interest is strong, the other quiet. A few have a colour each; of many, the first three by rank.
const colourOf = (k, rank) => (regression ? "strong" : K === 2 ? (k === positive ? "strong" : "quiet") : K <= 8 ? `k${k}` : `rank${Math.min(rank, 3)}`);

// The probabilities of a node as pieces of a bar: class by class, or the most probable first if there are many.
function piecesOf(p) {
  if (regression) return [{ begin: 0, share: onScale(p[0]), colour: "strong" }];
  const order = Array.from(p.keys()).sort((a, b) => (K === 2 ? (b === positive) - (a === positive) : K <= 8 ? a - b : p[b] - p[a]));
  let begin = 0;
  return order.slice(0, K <= 8 ? K : 3).map((k, rank) => {
    const piece = { begin, share: p[k], colour: colourOf(k, rank) };
    begin += p[k];
    return piece;
  });
}

function bar(p, x, y, width, height) {
  const pieces = piecesOf(p).filter((piece) => piece.share * width >= 0.3);
  return draw("g", { class: "bar" },
    draw("rect", { class: "rest", x, y, width, height }),
    ...pieces.map(({ begin, share, colour }) =>
      draw("rect", { class: colour, x: (x + begin * width).toFixed(2), y, width: (share * width).toFixed(2), height })));
}

// A probability with its interval on a line from 0 to 1, or a mean from the lowest to the highest, and what the test rows say.
function whisker(p, from, to, seen) {
  const x = (value) => (4 + 112 * onScale(value)).toFixed(1);
  return draw("svg", { class: "whisker", viewBox: "0 0 120 14", width: 120, height: 14, "aria-hidden": "true" },
    draw("path", { class: "track", d: "M4 7H116" }),
    draw("path", { class: "range", d: `M${x(from)} 7H${x(to)}` }),
    draw("circle", { class: "dot", cx: x(p), cy: 7, r: 3.2 }),
    seen === null ? null : draw("path", { class: "seen", d: `M${x(seen)} 1.5V12.5` }));
}

const MOST_CLASSES = 6;

// What is said of each class, the most probable first if they are many.
function classTable(p, from, to, counts = null, seen = null) {
  let order = Array.from(p.keys());
  order = order.sort((a, b) => (K === 2 ? (b === positive) - (a === positive) : p[b] - p[a]));
  const total = seen && sum(seen);
  const row = (k) => el("tr", {},
    regression ? null : el("th", { scope: "row", title: classes[k] }, shortened(classes[k], 28)),
    el("td", { class: "probability" }, number(p[k], probability(p[k]))),
    el("td", { class: "soft" }, `${probability(from[k])}${regression ? " to " : "–"}${probability(to[k])}`),
    counts && el("td", {}, amount(counts[k])),
    seen && el("td", {}, regression ? (Number.isNaN(seen[0]) ? "–" : probability(seen[0])) : total ? percent(seen[k] / total) : "–"));
  const head = el("tr", {},
    regression ? null : el("th", { scope: "col" }, "Class"),
    el("th", { scope: "col", class: "number" }, regression ? "Mean" : "Prob."),
    el("th", { scope: "col" }, `${+(100 * data.level).toFixed(6)} % interval`),
    counts && el("th", { scope: "col" }, "Rows"),
    seen && el("th", { scope: "col" }, "Test"));
  const table = el("table", { class: "classes" }, el("thead", {}, head), el("tbody", {}, ...order.slice(0, MOST_CLASSES).map(row)));
  const rest = order.slice(MOST_CLASSES);
  if (!rest.length) return table;
  const more = el("tbody", { hidden: true, class: "print" }, ...rest.map(row));
  const left = rest.reduce((all, k) => all + p[k], 0);
  const button = el("button", { type: "button", class: "quiet-button", onclick: () => { more.hidden = false; button.remove(); } },
    `${rest.length} more classes, ${probability(left)} together`);
  table.append(more);
  return el("div", {}, table, button);
}

// A long list, of which the first part is shown until somebody asks for the rest.
function capped(items, most, make, place, note, things) {
  place.replaceChildren(...items.slice(0, most).map(make));
  note.replaceChildren();
  if (items.length <= most) return;
  const all = () => { place.append(...items.slice(most).map(make)); note.replaceChildren(); };
  note.append(`${most} of ${amount(items.length)} ${things} are listed. `,
    el("button", { type: "button", class: "quiet-button", onclick: all }, `List all ${amount(items.length)}`));
}
