// The page: what is shown now, and every way to change it. Panels read from it and are told when to draw.

import { Refusal, Stale, Turns, change, onRevision, readJson, readPacket } from "./api.js";
import { Choice } from "./choice.js";
import { ClusterList } from "./clusters.js";
import { Colouring } from "./colouring.js";
import { Colours } from "./colours.js";
import { Controls } from "./controls.js";
import { Details } from "./details.js";
import { count, counted, samplesTold } from "./elements.js";
import { allDrawn } from "./drawing.js";
import { connectDialogs } from "./export.js";
import { explainWords } from "./glossary.js";
import { DecisionGraph } from "./graph.js";
import { connectKeys } from "./keys.js";
import { MapPlot } from "./map.js";
import { Names } from "./names.js";
import { loadShaders } from "./webgl.js";
import { ProminencePlot } from "./prominence.js";
import { Selection, connectSearch } from "./selection.js";
import { connectTheme } from "./theme.js";

const byId = (id) => document.getElementById(id);
const CHANGED_ELSEWHERE = "The clusters were changed elsewhere, in another tab or in Python; this is what they are now.";
const ASK_AGAIN = { first: 200, factor: 1.6, last: 3000 }; // milliseconds, while something is still computed

class App {
  scene = null;
  clustering = null;
  colours = null;
  pointed = null; // a sample of a list that the pointer or the cursor is on
  #turns = new Turns();
  #places = new Int32Array(); // of each sample among those that are drawn, or -1
  #wait = ASK_AGAIN.first;

  async start() {
    const shaders = await loadShaders();
    this.names = new Names(this);
    this.choice = new Choice(this);
    this.selection = new Selection(this);
    this.colouring = new Colouring(this);
    this.map = new MapPlot(byId("map"), shaders, this);
    this.graph = new DecisionGraph(byId("graph"), shaders, this);
    this.prominence = new ProminencePlot(byId("prominence"), this);
    this.list = new ClusterList(byId("clusters"), this);
    this.details = new Details(byId("details"), this);
    this.controls = new Controls(this);
    explainWords();
    connectDialogs(this);
    connectKeys(this);
    connectSearch(this);
    for (const name of ["undo", "redo"]) byId(name).addEventListener("click", () => this.change(name));
    byId("merge").addEventListener("click", () => this.change("merge", { clusters: [...this.choice.clusters] }));
    byId("split").addEventListener("click", () => this.change("split", { cluster: [...this.choice.clusters][0] }));
    const scene = await readPacket("/api/scene");
    const clustering = await readPacket("/api/clustering"); // after it: peaks lie where that scene has them
    this.colours = new Colours(scene.palette);
    this.#setScene(scene);
    this.#show(clustering, false);
    this.colouring.offer(scene.colourings);
    connectTheme(() => this.repaint());
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

  sizeOf(label) {
    return this.clustering.sizes[this.clustering.clusters.indexOf(label)];
  }

  // The cluster of a sample, where it is drawn.
  labelOf(sample) {
    const place = this.#places[sample];
    return place < 0 ? undefined : this.clustering.labels[place];
  }

  // The colours of the points that are drawn, with this opacity where they stand out.
  tintsOf(opacity) {
    const { labels } = this.clustering;
    const { clusters } = this.choice;
    if (this.colouring.isByCluster && this.selection.isEmpty) return this.colours.ofClusters(labels, opacity, clusters);
    return this.colours.ofPoints(labels, opacity, this.#lit, this.colouring.shade(labels));
  }

  // Whether the point at a place stands out; nothing where all do.
  get #lit() {
    const { labels } = this.clustering;
    const { drawn } = this.scene;
    const { clusters } = this.choice;
    if (!this.selection.isEmpty) return (place) => this.selection.has(drawn[place]);
    return clusters.size ? (place) => clusters.has(labels[place]) : null;
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
          await allDrawn();
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
      else this.tell(error.message, true);
    }
  }

  // Mark a sample on the map, or none.
  point(placed) {
    if (this.pointed === placed) return;
    this.pointed = placed;
    this.map.redraw();
  }

  showChoice() {
    this.#enableActions();
    this.list.recolour();
    this.repaint();
  }

  repaint() {
    if (!this.clustering) return;
    this.map.recolour();
    this.graph.recolour();
    this.prominence.redraw();
  }

  tell(text, isRefusal) {
    const status = byId("status");
    status.textContent = text;
    status.classList.toggle("refusal", isRefusal);
  }

  // An answer came from clusters that are newer than those shown, and no change of this page is under way.
  #noticed(revision) {
    if (this.#turns.isBusy || revision <= this.clustering.revision) return;
    this.#turns.take(() => this.attempt(() => this.#catchUp()));
  }

  async #catchUp() {
    this.#show(await readPacket("/api/clustering"), false);
    this.tell(CHANGED_ELSEWHERE, true);
  }

  #setScene(scene) {
    this.scene = scene;
    this.#places = new Int32Array(scene.n_samples).fill(-1);
    scene.drawn.forEach((sample, place) => (this.#places[sample] = place));
    byId("title").textContent = scene.title;
    const isThinned = scene.n_drawn < scene.n_samples;
    const drawn = isThinned ? ` · ${count(scene.n_drawn)} of ${samplesTold(scene.n_samples)} drawn` : "";
    byId("map-hint").textContent = byId("map-hint").title = `${scene.map_name}${drawn}`;
    byId("counts").textContent = samplesTold(scene.n_samples);
    byId("graph-hint").textContent = byId("graph-hint").title = scene.is_exact ? "" : scene.delta_note;
    document.documentElement.dataset.exact = scene.is_exact;
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
    this.colours.follow(clustering);
    this.choice.follow(clustering, passing);
    this.prominence.follow(clustering, passing);
    this.controls.show(clustering);
    byId("undo").disabled = !clustering.can.undo;
    byId("redo").disabled = !clustering.can.redo;
    this.tell([clustering.told, ...clustering.notes].join(" · "), false);
    byId("cut-told").textContent = byId("cut-told").title = clustering.cut_told;
    byId("prominence-hint").textContent = `of ${counted(clustering.n_hills, "hill")}`;
    this.showChoice();
    if (clustering.result.length) this.list.reveal(clustering.result[0]);
    if (clustering.view) this.#setView(clustering.view);
    if (passing) return;
    this.names.refresh();
    this.selection.refresh();
    this.colouring.follow();
  }

  // How the page is looked at, for a session that is saved.
  get view() {
    const { by, descending } = this.list.sorting;
    return { bounds: this.map.view, colour_by: this.colouring.name, tags: this.map.tags.kind, order: by, descending };
  }

  #setView({ bounds, colour_by: colourBy, tags = "numbers", order = "size", descending = order === "size" }) {
    this.map.view = bounds;
    this.map.tags.kind = tags;
    this.colouring.show(colourBy);
    this.list.sorting.set(order, descending);
  }

  #enableActions() {
    byId("merge").disabled = this.choice.clusters.size < 2;
    byId("split").disabled = this.choice.clusters.size !== 1;
  }
}

const app = new App();
app.start().catch((error) => {
  byId("details").textContent = error.message;
  byId("status").textContent = error.message;
  byId("status").classList.add("refusal");
});
