// Keys that work wherever the focus is, unless something is being typed.

import { showExport } from "./export.js";

const byId = (id) => document.getElementById(id);

export function connectKeys(app, graph) {
  const plain = {
    a: () => byId("automatic").click(),
    f: () => byId("as-fitted").click(),
    m: () => byId("merge").click(),
    s: () => byId("split").click(),
    l: () => graph.toggleLasso(),
    e: () => showExport(app),
    d: () => byId("theme").click(),
    "?": () => byId("help-dialog").showModal(),
    Escape: () => {
      graph.toggleLasso(false);
      app.chooseNothing();
    },
  };
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "z" && event.key !== "y") return;
      event.preventDefault();
      byId(event.shiftKey || event.key === "y" ? "redo" : "undo").click();
      return;
    }
    const typing = event.target.matches("input[type=number], select");
    if (event.altKey || (typing && event.key !== "Escape")) return;
    plain[event.key]?.();
  });
}
