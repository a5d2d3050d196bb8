// Names of clusters: as they were given, or else made of what sets them apart.

import { readJson } from "./api.js";

export class Names {
  #app;
  #told = {};
  #given = new Set();

  constructor(app) {
    this.#app = app;
  }

  // What a list shows beside the number.
  of(label) {
    return this.#told[label] ?? "";
  }

  isGiven(label) {
    return this.#given.has(label);
  }

  // What a cluster is called wherever it is spoken of.
  full(label) {
    if (label < 0) return "noise";
    return this.isGiven(label) ? `cluster ${label}: ${this.of(label)}` : `cluster ${label}`;
  }

  // The clusters have changed. Until the answer comes, numbers keep the names that they had.
  refresh() {
    return this.#app.attempt(async () => {
      const { names, given } = await readJson("/api/names");
      this.#told = names;
      this.#given = new Set(given);
      this.#app.list.recolour();
      this.#app.map.redraw();
      document.documentElement.dataset.named = this.#app.clustering.revision;
    });
  }
}
