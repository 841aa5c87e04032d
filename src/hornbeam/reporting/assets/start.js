// Everything is drawn once the page is there; then paper.

treePicture();
rowForm();
leafTable();
ruleList();
thresholdTool();

// A table that is wider than its frame says so.
const frames = [...document.querySelectorAll(".scroll")];
const mark = () => frames.forEach((frame) => frame.classList.toggle("more", frame.scrollWidth > frame.clientWidth + 1));
const watcher = new ResizeObserver(mark);
frames.forEach((frame) => { watcher.observe(frame); watcher.observe(frame.firstElementChild); });

// On paper nothing can be opened: lists are written in full, and the tree as an outline that breaks across pages.
addEventListener("beforeprint", () => {
  document.querySelectorAll("#leaf-more button, #rule-more button").forEach((button) => button.click());
  treeOnPaper();
});
