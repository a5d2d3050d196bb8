// The decision graph: density against delta on log axes, with the line of the cut, and the lasso.

import { drawAxes, drawCutLine, inkOf, logTicks, ring, shortNumber } from "./axes.js";
import { Frame, boundsOf } from "./frame.js";
import { listen } from "./gestures.js";
import { peakStyle, pointSize } from "./map.js";
import { Modes, Outline } from "./outline.js";

const MARGINS = [46, 10, 12, 34];
const GRAB = 8; // pixels around a line in which it is grabbed
const KEY_STEP = 0.02; // of log10

export class DecisionGraph {
  #app;
  #frame;
  #positions = new Float32Array();
  #outline;
  #modes = new Modes(["choose-peaks"]);

  constructor(element, shaders, app) {
    this.#app = app;
    this.#frame = new Frame(element, shaders, {
      margins: MARGINS,
      square: false,
      colour: (cloud) => this.#colour(cloud),
      paintAxes: (context) => this.#paintAxes(context),
      paint: (context) => this.#paint(context),
    });
    this.#outline = new Outline(this.#frame, (polygon) => {
      this.#modes.clear();
      this.#app.change("lasso", { polygon });
    });
    listen(this.#frame, {
      begin: (pixel, event) => this.#begin(pixel, event),
      click: (pixel) => this.#click(pixel),
      hover: (pixel, event) => this.#hover(pixel, event),
    });
    element.addEventListener("keydown", (event) => this.#key(event));
    document.getElementById("graph-whole").addEventListener("click", () => this.#frame.showWhole());
  }

  // Stop drawing around peaks; whether there was something to stop.
  stopDrawing() {
    const was = this.#modes.current !== null;
    this.#modes.clear();
    return was;
  }

  setScene(scene) {
    this.#positions = scene.graph;
    this.#frame.cloud.setPositions("samples", scene.graph, Math.min(4, pointSize(scene.n_drawn)));
    this.#frame.setWhole(boundsOf(scene.graph, 0.06));
  }

  recolour() {
    this.#frame.recolour();
  }

  #colour(cloud) {
    const { clustering, colours, colouring } = this.#app;
    const { clusters } = this.#app.choice;
    cloud.setColours("samples", this.#app.tintsOf(0.45));
    cloud.setPositions("peaks", clustering.peaks_graph, ...peakStyle(this.#frame, clustering));
    const peakShade = colouring.shadeOfPeaks(clustering.clusters);
    const isChosen = clusters.size ? (place) => clusters.has(clustering.clusters[place]) : null;
    cloud.setColours("peaks", colours.ofPoints(clustering.clusters, 1, isChosen, peakShade));
  }

  // Where the longest link is on the axis; above everything where there is none.
  get #level() {
    const { max_link: longest } = this.#app.clustering.cut;
    return longest === null ? this.#frame.whole[3] : Math.log10(longest);
  }

  // log10 of the least density x delta of a cut by number, between the last peak and the next sample.
  get #score() {
    const { cut, peaks_graph: places } = this.#app.clustering;
    if (cut.n_clusters === null) return null;
    let least = Infinity;
    for (let i = 0; i < places.length; i += 2) least = Math.min(least, places[i] + places[i + 1]);
    return least;
  }

  #linePixels() {
    const [x0, , x1] = this.#frame.bounds;
    const score = this.#score;
    const { left, width } = this.#frame.area;
    if (score !== null) return [this.#frame.toPixel(x0, score - x0), this.#frame.toPixel(x1, score - x1)];
    const y = this.#frame.toPixel(0, this.#level)[1];
    return [
      [left, y],
      [left + width, y],
    ];
  }

  #isOnLine([x, y]) {
    const [[x0, y0], [x1, y1]] = this.#linePixels();
    const share = (x - x0) / (x1 - x0);
    const slope = (y1 - y0) / (x1 - x0);
    return Math.abs(y - (y0 + share * (y1 - y0))) / Math.hypot(1, slope) < GRAB;
  }

  #begin(pixel, event) {
    if (event.shiftKey || this.#modes.current) return this.#outline.drag(pixel, false);
    if (!this.#isOnLine(pixel)) return null;
    const moved = (to, keep) => {
      const [x, y] = this.#frame.toData(...to);
      if (this.#score !== null) this.#app.change("score", { least: 10 ** (x + y), keep }, !keep);
      else this.#app.setRule("max_link", y >= this.#frame.whole[3] ? null : 10 ** y, keep);
    };
    return { move: (to) => moved(to, false), end: (to) => moved(to, true) };
  }

  #hover(pixel, event) {
    if (event.shiftKey || this.#modes.current) return "crosshair";
    return this.#isOnLine(pixel) ? "ns-resize" : null;
  }

  #click(pixel) {
    const { clustering, scene } = this.#app;
    const peak = this.#frame.nearest(clustering.peaks_graph, ...pixel, 8);
    const found = this.#frame.nearest(this.#positions, ...pixel);
    if (peak >= 0) this.#app.choice.explain(clustering.peaks[peak]);
    else if (found >= 0) this.#app.choice.explain(scene.drawn[found]);
    else this.#app.choice.chooseNothing();
  }

  #key(event) {
    const step = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    const { n_clusters: number } = this.#app.clustering.cut;
    if (number !== null) this.#app.setRule("n_clusters", Math.max(1, number - Math.sign(step)), true);
    else this.#app.setRule("max_link", 10 ** (this.#level + step), true);
  }

  #paintAxes(context) {
    const [x0, y0, x1, y1] = this.#frame.bounds;
    const ticks = { xTicks: logTicks(x0, x1), yTicks: logTicks(y0, y1) };
    drawAxes(context, this.#frame, inkOf(this.#frame.element), { ...ticks, xName: "density", yName: "delta" });
  }

  #paint(context) {
    const { clustering } = this.#app;
    if (!clustering) return;
    const { sample } = this.#app.choice;
    const ink = inkOf(this.#frame.element);
    const { max_link: longest, n_clusters: number } = clustering.cut;
    const link = `longest link ${longest === null ? "any" : shortNumber(longest)}`;
    const told = number === null ? link : `number of clusters ${number}`;
    drawCutLine(context, this.#frame, ink, this.#linePixels(), told, 0);
    if (sample) ring(context, ink, this.#frame.toPixel(...sample.path[0].graph), 7);
    this.#outline.paint(context, ink);
  }
}
