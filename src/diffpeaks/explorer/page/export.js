// The dialogs: lines and labels to take away, and the keys.

import { readBlob, readJson } from "./api.js";

const byId = (id) => document.getElementById(id);

export function connectDialogs(app) {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  }
  byId("export").addEventListener("click", () => showExport(app));
  byId("help").addEventListener("click", () => byId("help-dialog").showModal());
  byId("copy").addEventListener("click", () => copyLines());
  byId("save-csv").addEventListener("click", () => app.attempt(() => save("labels.csv")));
  byId("save-npy").addEventListener("click", () => app.attempt(() => save("labels.npy")));
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

async function save(name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await readBlob(`/api/${name}`));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
