// The page as a whole: the state, the picture of the tree, and every action.

let state = null;
let shown = null; // the picture of the tree
let automatic = false; // whether the automatic tree is shown
let wanted = -1; // the node whose values are fetched next
let fetching = false;
let noted = ""; // the notes that the field was filled with
let queue = Promise.resolve(); // of what was clicked

// A node by its way from the root: its number changes with the tree.
function keyOf(tree, node) {
  return tree.pathTo(node).slice(1).map((child) => child - tree.first[tree.parent[child]]);
}

function nodeAt(tree, key) {
  let node = 0;
  for (const slot of key) {
    if (slot >= tree.nodes.children[node]) break;
    node = tree.first[node] + slot;
  }
  return node;
}

// Draws a tree; nodes that were open stay open, and what is new below the chosen one is opened.
function drawTree(data, focused) {
  const before = shown && { chosen: keyOf(shown, shown.chosen()), open: [...shown.open].map((node) => keyOf(shown, node)) };
  const view = byId("tree-view");
  const scroll = view && [view.scrollLeft, view.scrollTop];
  byId("legend").replaceChildren();
  byId("tree-place").replaceChildren(byId("tree-template").content.cloneNode(true));
  shown = picture(data);
  byId("tree-view").addEventListener("choose", (event) => showNode(event.detail));
  byId("tree-view").addEventListener("keydown", onTreeKey);
  let chosen = 0;
  if (before) {
    chosen = nodeAt(shown, before.chosen);
    before.open.forEach((key) => { const node = nodeAt(shown, key); if (!shown.isLeaf(node)) shown.open.add(node); });
    shown.openTo(chosen);
    if (!shown.isLeaf(chosen)) shown.open.add(chosen);
    shown.choose(chosen);
    shown.redraw();
    shown.fit();
    [byId("tree-view").scrollLeft, byId("tree-view").scrollTop] = scroll;
  }
  shown.describe(chosen);
  if (focused) shown.focusOn(chosen);
  else showNode(chosen);
}

// Fetches the values of a node; while one is fetched, only the last wish is kept.
async function showNode(node) {
  wanted = node;
  if (automatic) byId("node-forms").replaceChildren(el("p", { class: "note" }, "This is the automatic tree, before the edits."));
  if (fetching || automatic) return;
  fetching = true;
  byId("panel").setAttribute("aria-busy", "true");
  try {
    while (wanted >= 0) {
      const asked = wanted;
      wanted = -1;
      const view = await post("node", asked);
      if (!view.digest.startsWith(state.now.digest)) {
        await refresh();
        if (wanted < 0) wanted = asked;
      } else if (wanted < 0 && !automatic && shown.chosen() === view.node && shown.data === state.tree) {
        nodePanel(shown, { ...view, tested: state.held_out !== null }, act);
        byId("panel").dataset.node = String(view.node);
      }
    }
  } catch (error) {
    if (shown.data === state.tree && wanted < 0) complain(error.message);
    await refresh().catch(() => {}); // the node may be gone
  } finally {
    fetching = false;
    byId("panel")?.setAttribute("aria-busy", "false");
  }
  if (wanted >= 0) showNode(wanted);
}

// Shows the present tree if another tab has changed it.
async function refresh() {
  await queue;
  const next = await get("state");
  if (next.now.digest === state.now.digest) return;
  show(next, false);
  complain("The tree was changed in another tab. This page now shows the present tree.");
}

function show(next, focused) {
  const redrawn = !state || automatic || next.now.digest !== state.now.digest || next.edits.length !== state.edits.length;
  state = next;
  automatic = false;
  byId("compare").setAttribute("aria-pressed", "false");
  if (redrawn) drawTree(state.tree, focused);
  else state.tree = shown.data;
  scoreTable(state);
  editList(state);
  sizeDial(state);
  byId("undo").disabled = !state.edits.length;
  byId("redo").disabled = !state.undone;
  if (document.activeElement !== byId("note")) byId("note").value = noted = state.notes;
  const heldOut = state.held_out === null ? "no held-out rows" : shown.counted(state.held_out, "held-out row");
  byId("facts").textContent = `${shown.counted(state.rows, "row")} · ${heldOut} · digest ${state.now.digest} · ${state.saved ? "saved" : state.edits.length ? "not saved; in the journal" : "no edits"}`;
}

// Does one thing after the other, in the order of the clicks; after a failure the page shows the present state.
function inTurn(task) {
  queue = queue.then(async () => {
    complain();
    try {
      await task();
    } catch (error) {
      complain(error.message);
      if (error.status === 409 || error.status >= 500) await get("state").then((next) => show(next, false)).catch(() => {});
      else if (state) sizeDial(state);
    }
  });
  return queue;
}

// Sends the digest of the state that the page shows. A node is one of the tree at the time of the click.
function act(operation) {
  const begin = performance.now();
  const tree = state.now.digest;
  const inTree = document.activeElement === document.body || byId("tree-place").contains(document.activeElement);
  return inTurn(async () => {
    if ("node" in operation && tree !== state.now.digest) throw new Error("Nothing was done: the tree was changed by the edit before. Repeat what you did if it is still right.");
    const isEdit = !["undo", "redo"].includes(operation.do);
    const next = await post("apply", { ...operation, digest: state.digest, ...(isEdit && reason ? { reason } : {}) });
    if (isEdit) reason = "";
    show(next, inTree);
    say(`${summary(operation)} ${shown.counted(state.now.leaves, "leaf", "leaves")}${scoreWords()}.`);
  }).then(() => { document.documentElement.dataset.milliseconds = String(Math.round(performance.now() - begin)); });
}

// Notes of another tab are kept: those of this one are put below them.
function writeNotes() {
  const text = byId("note").value;
  const before = noted;
  if (text === before) return;
  const write = async (present) => {
    const both = present.notes === before ? text : `${present.notes}\n${text}`;
    try {
      show(await post("apply", { do: "note", text: both, digest: present.digest }), false);
    } catch (error) {
      if (error.status !== 409) throw error;
      await write(await get("state"));
    }
    if (both !== text) byId("note").value = state.notes; // also if it has the focus
    noted = state.notes;
  };
  inTurn(() => write(state));
}

function summary({ do: what }) {
  if (what === "undo") return "Undone:";
  if (what === "redo") return "Redone:";
  return `Edit ${state.edits.length}:`;
}

function scoreWords() {
  const [score] = state.scores ?? [];
  return score ? `; ${score.name} ${score.texts[1]}, ${score.texts[2].replace(/^-/, "−")} from the automatic tree` : "";
}

function save() {
  writeNotes();
  inTurn(async () => {
    const files = await post("save", { digest: state.digest });
    show(await get("state"), false);
    say(`Saved: ${files.join(", ")}.`);
  });
}

async function compare() {
  if (automatic) { automatic = false; drawTree(state.tree, false); } else {
    const data = await get("automatic");
    automatic = true;
    drawTree(data, false);
  }
  byId("compare").setAttribute("aria-pressed", String(automatic));
  say(automatic ? "The automatic tree is shown." : "The edited tree is shown.");
}

const TREE_KEYS = {
  p: () => byId("prune")?.click(),
  g: () => byId("grow")?.click(),
  r: () => document.querySelector(".round")?.click(),
  e: () => byId("node-forms").querySelector("form input, form select, form button, button")?.focus(),
};

// Letters act only while the tree has the focus, so that they can be typed elsewhere.
function onTreeKey(event) {
  const key = TREE_KEYS[event.key.toLowerCase()];
  if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (byId("panel").dataset.node === String(shown.chosen())) key();
}

const writing = (target) => target.matches("textarea, input:not([type=range])");

addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const key = event.key.toLowerCase();
  if (key === "s") { event.preventDefault(); save(); return; }
  if (writing(event.target)) return; // the field has an undo of its own
  const again = key === "y" || (key === "z" && event.shiftKey);
  if (key !== "z" && !again) return;
  event.preventDefault();
  byId(again ? "redo" : "undo").click();
});

byId("undo").addEventListener("click", () => act({ do: "undo" }));
byId("redo").addEventListener("click", () => act({ do: "redo" }));
byId("save").addEventListener("click", save);
byId("compare").addEventListener("click", () => compare().catch((error) => complain(error.message)));
byId("dial").addEventListener("input", () => sizeWords(state));
byId("dial").addEventListener("change", () => {
  const leaves = Number(byId("dial").value);
  if (leaves === state.now.leaves) return;
  act(leaves === state.most ? { do: "undo" } : { do: "size", leaves });
});
byId("note").addEventListener("change", writeNotes);

inTurn(async () => {
  const first = await get("state");
  show(first, false);
  say(first.restored ? `Restored ${shown.counted(first.restored, "edit")} from the journal.` : "");
});
