// The values of a feature at a node, by class.

const WIDE = 340;
const HIGH = 84;

// Bars from left to right, the classes on top of each other; a line where the split is.
function numericHistogram(shown, { edges, counts }, value) {
  const largest = Math.max(...counts.map((bar) => bar.reduce((a, b) => a + b, 0)), 1);
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const x = (v) => ((v - low) / (high - low)) * WIDE;
  const bars = counts.flatMap((bar, i) => {
    let y = HIGH;
    return stacked(shown, bar).map(([k, n]) => {
      const height = (n / largest) * HIGH;
      y -= height;
      return draw("rect", { class: shown.colourOf(k, k), x: (x(edges[i]) + 0.5).toFixed(1), y: y.toFixed(1),
        width: Math.max(x(edges[i + 1]) - x(edges[i]) - 1, 0.5).toFixed(1), height: height.toFixed(1) });
    });
  });
  const line = value === undefined || value < low || value > high ? null
    : draw("path", { class: "cut", d: `M${x(value).toFixed(1)} -4V${HIGH}` });
  const label = (v, at, anchor) => draw("text", { x: at, y: HIGH + 13, "text-anchor": anchor }, String(Number(v.toPrecision(4))));
  return draw("svg", { class: "histogram", viewBox: `-4 -6 ${WIDE + 8} ${HIGH + 24}`, role: "img", "aria-label": `Histogram of ${shown.nameOf(shown.column)} by class` },
    ...bars, draw("path", { class: "track", d: `M0 ${HIGH}H${WIDE}` }), line, label(low, 0, "start"), label(high, WIDE, "end"));
}

// The classes of a bar, the class of interest at the bottom.
function stacked(shown, bar) {
  const order = [...bar.keys()].sort((a, b) => (b === shown.data.positive) - (a === shown.data.positive) || a - b);
  return order.map((k) => [k, bar[k]]).filter(([, n]) => n > 0);
}

// A bar for a category, as long as its share of the largest one.
function categoryBar(shown, bar, largest) {
  let x = 0;
  return draw("svg", { class: "category-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...stacked(shown, bar).map(([k, n]) => {
      const width = (100 * n) / largest;
      x += width;
      return draw("rect", { class: shown.colourOf(k, k), x: (x - width).toFixed(2), y: 0, width: width.toFixed(2), height: 8 });
    }));
}
