// The dialogs: lines and labels to take away, and the keys.

import { question, readBlob, readJson, save } from "./api.js";

const byId = (id) => document.getElementById(id);

export function connectDialogs(app) {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  }
  byId("export").addEventListener("click", () => showExport(app));
  byId("save-session").addEventListener("click", () => app.attempt(() => saveSession(app)));
  byId("open-session").addEventListener("click", () => byId("session-file").click());
  byId("session-file").addEventListener("change", (event) => openSession(app, event.target));
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

async function saveSession(app) {
  save("session.json", await question("session.json", { view: app.view }));
}

async function openSession(app, input) {
  const [file] = input.files;
  input.value = ""; // so that the same file may be opened again
  byId("export-dialog").close();
  try {
    app.change("open", { saved: JSON.parse(await file.text()) });
  } catch {
    app.tell(`${file.name} is no session of diffpeaks; open a file that was saved here.`, true);
  }
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
