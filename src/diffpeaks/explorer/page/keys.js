// Keys that work wherever the focus is, unless something is being typed.

import { showExport } from "./export.js";

const byId = (id) => document.getElementById(id);

export function connectKeys(app) {
  const plain = {
    "/": () => byId("search").focus(),
    a: () => byId("automatic").click(),
    b: () => app.map.toggleMode("box"),
    c: () => byId("colour-by").focus(),
    d: () => byId("theme").click(),
    e: () => showExport(app),
    f: () => byId("as-fitted").click(),
    g: () => byId("gather").click(),
    l: () => app.map.toggleMode("lasso"),
    n: () => app.map.tags.showNext(),
    m: () => byId("merge").click(),
    p: () => byId("choose-peaks").click(),
    r: () => byId("cluster-name")?.focus(),
    s: () => byId("split").click(),
    t: () => byId("selection").focus(),
    v: () => app.map.selectInView(),
    "?": () => byId("help-dialog").showModal(),
    Escape: () => leave(app),
  };
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "z" && event.key !== "y") return;
      if (isTyped(event.target)) return; // what is typed has an undo of its own
      event.preventDefault();
      byId(event.shiftKey || event.key === "y" ? "redo" : "undo").click();
      return;
    }
    const typing = isTyped(event.target) || event.target.matches("input[type=number], select");
    if (event.altKey || (typing && event.key !== "Escape") || !(event.key in plain)) return;
    event.preventDefault();
    plain[event.key]();
  });
}

function isTyped(target) {
  return target.matches("input[type=search], input[type=text]");
}

// One thing after the other: the line that is being drawn, the selection, the choice.
function leave(app) {
  const stopped = [app.map.stopDrawing(), app.graph.stopDrawing()].some(Boolean);
  if (document.activeElement === byId("search")) byId("map").focus();
  if (stopped || app.selection.clear()) return;
  app.choice.chooseNothing();
}
