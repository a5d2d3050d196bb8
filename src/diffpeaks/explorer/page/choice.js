// What is looked at: one sample that is explained, or clusters.

import { readJson } from "./api.js";

export class Choice {
  sample = null; // what is known of the sample that is explained
  clusters = new Set(); // by their numbers
  #app;
  #turns = 0; // how many samples and clusters have been chosen

  constructor(app) {
    this.#app = app;
  }

  explain(sample) {
    return this.#app.attempt(async () => {
      const about = await this.#newest(readJson("/api/sample", { sample }));
      if (!about) return;
      this.sample = about;
      this.clusters = new Set(about.label < 0 ? [] : [about.label]);
      this.#app.details.showSample(about);
      this.#app.showChoice();
      this.#app.list.reveal(about.label);
    });
  }

  choose(label, more) {
    if (label < 0) return undefined;
    const labels = more ? new Set(this.clusters) : new Set();
    if (more && labels.has(label)) labels.delete(label);
    else labels.add(label);
    return this.chooseAll([...labels]);
  }

  chooseAll(labels) {
    this.sample = null;
    this.clusters = new Set(labels);
    this.#app.showChoice();
    return this.#showClusters(labels);
  }

  // Tell of clusters what is known now.
  #showClusters(labels) {
    return this.#app.attempt(async () => {
      const { details } = this.#app;
      const [cluster] = labels;
      const about = await this.#newest(labels.length === 1 ? readJson("/api/members", { cluster }) : {});
      if (!about) return;
      if (labels.length === 1) details.showCluster(about);
      else if (labels.length) details.showSeveral(labels);
      else details.showNothing();
    });
  }

  chooseNothing() {
    return this.chooseAll([]);
  }

  // The clusters have changed: what an action made is chosen, otherwise what was chosen and is still there.
  follow({ clusters, result }, passing) {
    const present = new Set(clusters);
    this.clusters = new Set(result.length ? result : [...this.clusters].filter((one) => present.has(one)));
    if (passing) return;
    if (this.sample && !result.length) this.explain(this.sample.sample);
    else {
      this.sample = null;
      this.#showClusters([...this.clusters]);
    }
  }

  // What was asked for, or nothing if something else has been chosen meanwhile.
  async #newest(answer) {
    this.#turns += 1;
    const turn = this.#turns;
    const found = await answer;
    return turn === this.#turns ? found : null;
  }
}
