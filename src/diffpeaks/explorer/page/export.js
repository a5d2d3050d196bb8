// The dialogs: lines and labels to take away, and the keys.

import { readBlob, readJson, save } from "./api.js";

const byId = (id) => document.getElementById(id);

export function connectDialogs(app) {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  }
  byId("export").addEventListener("click", () => showExport(app));
  byId("help").addEventListener("click", () => byId("help-dialog").showModal());
  byId("copy").addEventListener("click", () => copyLines());
  for (const [id, name] of [
    ["save-csv", "labels.csv"],
    ["save-npy", "labels.npy"],
  ]) {
    byId(id).addEventListener("click", () => app.attempt(async () => save(name, await readBlob(`/api/${name}`))));
  }
}

export function showExport(app) {
  return app.attempt(async () => {
    const { code } = await readJson("/api/code");
    byId("code").textContent = code;
    byId("copy").textContent = "Copy lines";
    byId("export-dialog").showModal();
  });
}

async function copyLines() {
  const code = byId("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    byId("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code); // where the browser does not let pages copy, a key does
    byId("copy").textContent = "Press Ctrl+C";
  }
}
