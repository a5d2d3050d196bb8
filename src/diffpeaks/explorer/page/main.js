// The page: what is shown now, and every way to change it. Panels read from it and are told when to draw.

import { Refusal, Stale, Turns, change, onRevision, readJson, readPacket } from "./api.js";
import { ClusterList } from "./clusters.js";
import { Colours } from "./colours.js";
import { Controls } from "./controls.js";
import { Details } from "./details.js";
import { connectDialogs } from "./export.js";
import { DecisionGraph } from "./graph.js";
import { connectKeys } from "./keys.js";
import { MapPlot } from "./map.js";
import { loadShaders } from "./points.js";
import { ProminencePlot } from "./prominence.js";
import { connectTheme } from "./theme.js";

const byId = (id) => document.getElementById(id);
const CHANGED_ELSEWHERE = "The clusters were changed elsewhere, in another tab or in Python; this is what they are now.";
const ASK_AGAIN = { first: 200, factor: 1.6, last: 3000 }; // milliseconds, while something is still computed

class App {
  scene = null;
  clustering = null;
  colours = null;
  sample = null; // what is known of the sample that is explained
  chosen = new Set(); // numbers of clusters
  #turns = new Turns();
  #choices = 0; // how many samples and clusters have been chosen
  #wait = ASK_AGAIN.first;

  async start() {
    const shaders = await loadShaders();
    this.map = new MapPlot(byId("map"), shaders, this);
    this.graph = new DecisionGraph(byId("graph"), shaders, this);
    this.prominence = new ProminencePlot(byId("prominence"), this);
    this.list = new ClusterList(byId("clusters"), this);
    this.details = new Details(byId("details"), this);
    this.controls = new Controls(this);
    connectDialogs(this);
    connectKeys(this, this.graph);
    for (const name of ["undo", "redo"]) byId(name).addEventListener("click", () => this.change(name));
    byId("merge").addEventListener("click", () => this.change("merge", { clusters: [...this.chosen] }));
    byId("split").addEventListener("click", () => this.change("split", { cluster: [...this.chosen][0] }));
    const [scene, clustering] = await Promise.all([readPacket("/api/scene"), readPacket("/api/clustering")]);
    this.colours = new Colours(scene.palette);
    this.#setScene(scene);
    this.#show(clustering, false);
    connectTheme(() => this.#repaint());
    onRevision((revision) => this.#noticed(revision));
    addEventListener("focus", () => this.attempt(() => readJson("/api/pending")));
    document.documentElement.dataset.ready = Math.round(performance.now());
  }

  get linkRange() {
    const {
      link_range: [low, high],
    } = this.scene;
    return [low, Math.max(high, 1.001 * low)];
  }

  get largestRise() {
    const rises = this.clustering.hill_prominence;
    return (
      Math.max(
        rises.reduce((top, rise) => Math.max(top, rise), 0),
        this.clustering.cut.min_prominence ?? 0,
      ) || 1
    );
  }

  setRule(name, value, keep) {
    this.change("rule", { name, value, keep }, !keep);
  }

  // Ask for a change and show what came of it; one that is passing gives way to newer ones.
  change(name, values = {}, passing = false) {
    const start = performance.now();
    return this.#turns.take(
      () =>
        this.attempt(async () => {
          const found = await change(name, values, this.clustering.revision);
          this.#show(found, passing);
          document.documentElement.dataset.drawn = (performance.now() - start).toFixed(1);
          byId("took").textContent =
            `cut ${Math.round(1000 * found.seconds)} ms, drawn after ${Math.round(performance.now() - start)} ms`;
          document.documentElement.dataset.changes = Number(document.documentElement.dataset.changes ?? 0) + 1;
        }),
      passing,
    );
  }

  // Do something that the server may refuse; what it says is shown.
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error instanceof Stale) await this.#catchUp();
      else this.#tell(error.message, true);
    }
  }

  // An answer came from clusters that are newer than those shown, and no change of this page is under way.
  #noticed(revision) {
    if (this.#turns.isBusy || revision <= this.clustering.revision) return;
    this.#turns.take(() => this.attempt(() => this.#catchUp()));
  }

  async #catchUp() {
    this.#show(await readPacket("/api/clustering"), false);
    this.#tell(CHANGED_ELSEWHERE, true);
  }

  explain(sample) {
    return this.attempt(async () => {
      const about = await this.#newest(readJson("/api/sample", { sample }));
      if (!about) return;
      this.sample = about;
      this.chosen = new Set(about.label < 0 ? [] : [about.label]);
      this.details.showSample(about);
      this.#showChoice();
      this.list.reveal(about.label);
    });
  }

  choose(label, more) {
    if (label < 0) return undefined;
    const labels = more ? new Set(this.chosen) : new Set();
    if (more && labels.has(label)) labels.delete(label);
    else labels.add(label);
    return this.chooseAll([...labels]);
  }

  chooseAll(labels) {
    this.sample = null;
    this.chosen = new Set(labels);
    return this.attempt(async () => {
      this.#showChoice();
      const [cluster] = labels;
      const about = await this.#newest(labels.length === 1 ? readJson("/api/members", { cluster }) : {});
      if (!about) return;
      if (labels.length === 1) this.details.showCluster(about);
      else if (labels.length) {
        this.details.showSeveral(
          labels,
          labels.map((label) => this.#sizeOf(label)),
        );
      } else this.details.showNothing();
    });
  }

  // What was asked for, or nothing if something else has been chosen meanwhile.
  async #newest(answer) {
    this.#choices += 1;
    const choice = this.#choices;
    const found = await answer;
    return choice === this.#choices ? found : null;
  }

  chooseNothing() {
    this.chooseAll([]);
  }

  #sizeOf(label) {
    return this.clustering.sizes[this.clustering.clusters.indexOf(label)];
  }

  #setScene(scene) {
    this.scene = scene;
    byId("title").textContent = scene.title;
    const thinned = scene.n_drawn < scene.n_samples;
    const drawn = thinned
      ? `${scene.n_drawn.toLocaleString("en")} of ${scene.n_samples.toLocaleString("en")}`
      : scene.n_samples.toLocaleString("en");
    byId("map-hint").textContent = `${scene.map_name} · ${drawn} samples drawn`;
    byId("counts").textContent =
      `${scene.n_samples.toLocaleString("en")} ${scene.n_samples === 1 ? "sample" : "samples"}`;
    byId("graph-hint").textContent = byId("graph-hint").title = scene.is_exact ? "" : scene.delta_note;
    this.map.setScene(scene);
    this.graph.setScene(scene);
    if (scene.is_pending) this.#askAgain();
  }

  // Whether the delta of hilltops is known by now; only then the whole scene is sent again.
  #askAgain() {
    setTimeout(
      () =>
        this.attempt(async () => {
          const { is_pending: isPending } = await readJson("/api/pending");
          if (isPending) this.#askAgain();
          else this.#turns.take(() => this.attempt(() => this.#refresh()));
        }),
      this.#wait,
    );
    this.#wait = Math.min(ASK_AGAIN.last, ASK_AGAIN.factor * this.#wait);
  }

  // The scene as it is known now, and the peaks in it.
  async #refresh() {
    this.#setScene(await readPacket("/api/scene"));
    this.#show(await readPacket("/api/clustering"), true);
  }

  #show(clustering, passing) {
    this.clustering = clustering;
    const present = new Set(clustering.clusters);
    this.chosen = new Set(clustering.result.length ? clustering.result : [...this.chosen].filter((one) => present.has(one)));
    this.prominence.recolour(passing);
    this.controls.show(clustering);
    byId("undo").disabled = !clustering.can.undo;
    byId("redo").disabled = !clustering.can.redo;
    this.#tell([clustering.told, ...clustering.notes].join(" · "), false);
    byId("cut-told").textContent = clustering.cut_told;
    byId("prominence-hint").textContent = `${clustering.n_hills.toLocaleString("en")} hills`;
    this.list.recolour();
    this.#repaintNow();
    if (passing) return;
    if (this.sample && !clustering.result.length) this.explain(this.sample.sample);
    else this.chooseAll([...this.chosen]);
    if (clustering.result.length) this.list.reveal(clustering.result[0]);
  }

  #showChoice() {
    byId("merge").disabled = this.chosen.size < 2;
    byId("split").disabled = this.chosen.size !== 1;
    this.list.recolour();
    this.#repaint();
  }

  #repaint() {
    if (!this.clustering) return;
    this.map.recolour();
    this.graph.recolour();
    for (const plot of [this.map, this.graph, this.prominence]) plot.redraw();
  }

  #repaintNow() {
    this.map.recolour();
    this.graph.recolour();
    for (const plot of [this.map, this.graph, this.prominence]) plot.drawNow();
    byId("merge").disabled = this.chosen.size < 2;
    byId("split").disabled = this.chosen.size !== 1;
  }

  #tell(text, isRefusal) {
    const status = byId("status");
    status.textContent = text;
    status.classList.toggle("refusal", isRefusal);
  }
}

const app = new App();
app.start().catch((error) => {
  byId("details").textContent = error.message;
  byId("status").textContent = error.message;
  byId("status").classList.add("refusal");
});
