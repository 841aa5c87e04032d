// Two classes: any threshold, and any two costs, tried on the test rows.

function thresholdTool() {
  const place = byId("threshold");
  const given = data.thresholds;
  if (!place || !given || !given.said) return;
  const [no, yes] = [classes[1 - positive], classes[positive]].map((words) => shortened(words, 30));
  const input = (id, value, attributes) => el("input", { id, ...attributes, value, oninput: update });
  const slider = input("threshold-at", Math.min(given.in_use, 1).toFixed(2), { type: "range", min: 0, max: 1, step: 0.01 });
  const alarm = input("cost-alarm", given.costs[0][1] - given.costs[0][0], { type: "number", min: 0, step: "any" });
  const miss = input("cost-miss", given.costs[1][0] - given.costs[1][1], { type: "number", min: 0, step: "any" });
  const shown = el("output", { for: "threshold-at" });
  const table = el("table", { class: "square" });
  const figures = el("dl", { class: "figures-line" });
  const picture = draw("svg", { class: "cost-curve", viewBox: "0 0 400 150", role: "img" });
  const total = [sum(given.no), sum(given.yes)];

  function countsAt(limit) {
    if (limit === given.in_use) { // as the model itself decides, ties too
      const [[rejections, falseAlarms], [misses, hits]] = given.counts;
      return { falseAlarms, hits, rejections, misses };
    }
    const above = [0, 0];
    given.said.forEach((p, i) => { if (p > limit) { above[0] += given.no[i]; above[1] += given.yes[i]; } });
    return { falseAlarms: above[0], hits: above[1], rejections: total[0] - above[0], misses: total[1] - above[1] };
  }

  const price = (counts) => (counts.falseAlarms * Number(alarm.value) + counts.misses * Number(miss.value)) / (total[0] + total[1]);

  function curve(limit) {
    const steps = Array.from({ length: 101 }, (_, i) => [i / 100, price(countsAt(i / 100))]);
    const most = Math.max(...steps.map(([, cost]) => cost)) || 1;
    const x = (t) => 40 + 350 * t;
    const y = (cost) => 118 - 104 * (cost / most);
    const best = steps.reduce((a, b) => (b[1] < a[1] ? b : a));
    picture.setAttribute("aria-label", `Cost per row by threshold; lowest at ${best[0].toFixed(2)}`);
    picture.replaceChildren(
      draw("path", { class: "grid", d: `M40 118H390M40 14V118` }),
      draw("path", { class: "line", d: `M${steps.map(([t, cost]) => `${x(t).toFixed(1)} ${y(cost).toFixed(1)}`).join("L")}` }),
      draw("path", { class: "chosen", d: `M${x(limit).toFixed(1)} 14V118` }),
      draw("circle", { cx: x(best[0]), cy: y(best[1]), r: 3.5 }),
      ...[0, 0.25, 0.5, 0.75, 1].map((t) => draw("text", { x: x(t), y: 133, "text-anchor": "middle" }, String(t))),
      draw("text", { x: 34, y: 18, "text-anchor": "end" }, most.toPrecision(2)),
      draw("text", { x: 34, y: 121, "text-anchor": "end" }, "0"),
      draw("text", { x: 215, y: 148, "text-anchor": "middle" }, "threshold"));
    return best;
  }

  function update() {
    const limit = Number(slider.value) === Number(Math.min(given.in_use, 1).toFixed(2)) ? given.in_use : Number(slider.value);
    const c = countsAt(limit);
    shown.textContent = limit.toFixed(2);
    table.replaceChildren(
      el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, el("span", {}, no)), el("th", { scope: "col" }, el("span", {}, yes)))),
      el("tbody", {},
        el("tr", {}, el("th", { scope: "row" }, no), el("td", { class: "own" }, amount(c.rejections)), el("td", {}, amount(c.falseAlarms))),
        el("tr", {}, el("th", { scope: "row" }, yes), el("td", {}, amount(c.misses)), el("td", { class: "own" }, amount(c.hits)))));
    const best = curve(limit);
    const ratio = (part, whole) => (whole ? percent(part / whole) : "–");
    const lines = [
      [`Decided for ${yes}`, ratio(c.falseAlarms + c.hits, total[0] + total[1])],
      ["True positive rate (recall)", ratio(c.hits, total[1])],
      ["False positive rate", ratio(c.falseAlarms, total[0])],
      ["Precision", ratio(c.hits, c.hits + c.falseAlarms)],
      ["Cost per row", price(c).toFixed(4)],
      ["Lowest cost per row (threshold)", `${best[1].toFixed(4)} (${best[0].toFixed(2)})`],
    ];
    figures.replaceChildren(...lines.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  const labelled = (words, made) => el("label", { for: made.id }, el("span", {}, words), made);
  place.append(
    el("div", { class: "controls" },
      el("label", { for: "threshold-at", class: "grow" }, el("span", {}, `Decide for ${yes} when its probability is above `, shown), slider),
      labelled(`Cost if ${no} is decided as ${yes}`, alarm),
      labelled(`Cost if ${yes} is decided as ${no}`, miss)),
    el("div", { class: "threshold-figure" }, el("div", {}, el("p", { class: "note" }, "Test rows by true class (rows) and decision (columns):"), table), picture),
    figures,
    el("p", { class: "note" }, `The model decides for ${yes} above ${given.in_use.toFixed(3)}. The threshold of lowest cost was chosen on these test rows, so on new rows its cost is likely to be a little higher.`));
  update();
}
