// The effect of all edits, their list, and the size dial.

function scoreTable(state) {
  const line = (name, texts, mark = "") => el("tr", { class: mark || null }, el("th", { scope: "row" }, name), ...texts.map((words) => el("td", {}, words)));
  const change = (after, before) => (after === before ? "0" : `${after > before ? "+" : "−"}${Math.abs(after - before)}`);
  const size = (name, what) => line(name, [String(state.before[what]), String(state.now[what]), change(state.now[what], state.before[what])]);
  const scores = (state.scores ?? []).map(({ name, texts, better }) =>
    line(name, texts.map((words) => words.replace(/^-/, "−")), better === null ? "" : better ? "better" : "worse"));
  byId("scores").replaceChildren(
    el("caption", { class: "visually-hidden" }, "Scores of the automatic and the edited tree"),
    el("thead", {}, el("tr", {}, el("td", {}, ""), ...["Automatic", "Edited", "Change"].map((words) => el("th", { scope: "col" }, words)))),
    el("tbody", {}, size("leaves", "leaves"), size("depth", "depth"), ...scores));
}

function editList(state) {
  const items = state.edits.map(({ what, reason: why, author }) => el("li", {}, what,
    why || author ? el("small", {}, ` ${[why, author].filter(Boolean).join(" · ")}`) : null));
  byId("edit-list").replaceChildren(...(items.length ? items : [el("li", { class: "soft none" }, "No edits yet.")]));
}

// From one leaf to the size before the dial was moved.
function sizeDial(state) {
  const dial = byId("dial");
  dial.max = String(state.most);
  dial.value = String(state.now.leaves);
  dial.disabled = state.most === 1;
  sizeWords(state);
}

function sizeWords(state) {
  const leaves = Number(byId("dial").value);
  byId("leaves").textContent = String(leaves);
  const text = [leaves === state.now.leaves ? "" : "Release to prune: the splits with the largest gains stay."];
  if (state.sizes) {
    const [sizes, losses, measure] = state.sizes;
    const at = sizes.findIndex((size) => size <= leaves);
    const most = at > 0 ? `; ${sizes[0]} leaves ${losses[0].toPrecision(4)}` : "";
    if (at >= 0) text.push(`When the tree was fitted, ${sizes[at]} ${sizes[at] === 1 ? "leaf" : "leaves"} had a ${measure} of ${losses[at].toPrecision(4)} on held-out rows${most}.`);
  }
  byId("size-text").textContent = text.filter(Boolean).join(" ");
}
