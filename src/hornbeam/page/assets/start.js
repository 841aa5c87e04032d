// Everything is drawn once the page is there; then light, dark and paper.

treePicture();
rowForm();
leafTable();
ruleList();
thresholdTool();

const MOST_PRINTED = 60;

byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = getComputedStyle(root).colorScheme === "dark"
    || (getComputedStyle(root).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark";
});

// On paper nothing can be opened: what is closed is opened, unless it would fill a book.
addEventListener("beforeprint", () => {
  document.querySelectorAll("#leaf-more button, #rule-more button").forEach((button) => button.click());
  if (leavesBelow[0] <= MOST_PRINTED) byId("tree-open").click();
});
