// The map: samples in the colours of their clusters or values, what is selected, the path of the sample that is explained.

import { inkOf, ring, stroke } from "./axes.js";
import { Frame, boundsOf } from "./frame.js";
import { listen, moveByKey } from "./gestures.js";
import { Hover } from "./hover.js";
import { Modes, Outline, boxOf } from "./outline.js";
import { Tags } from "./tags.js";

const MARGINS = [8, 8, 8, 8];
const MOST_ENLARGED = 2_000; // selected samples that are drawn larger, so that few are seen among many

export class MapPlot {
  #app;
  #frame;
  #hover;
  #outline;
  #modes = new Modes(["lasso", "box"]);
  #positions = new Float32Array();

  constructor(element, shaders, app) {
    this.#app = app;
    this.#frame = new Frame(element, shaders, {
      margins: MARGINS,
      square: true,
      colour: (cloud) => this.#colour(cloud),
      paint: (context) => this.#paint(context),
    });
    this.#hover = new Hover(element, app);
    this.tags = new Tags(this.#frame, app);
    this.#outline = new Outline(this.#frame, (polygon) => {
      const told = this.#modes.current === "box" ? "inside the box" : "inside the lasso";
      this.#modes.clear();
      this.#app.selection.select({ polygon }, told);
    });
    listen(this.#frame, {
      begin: (pixel, event) => this.#begin(pixel, event),
      click: (pixel, event) => this.#click(pixel, event),
      hover: (pixel, event) => this.#pointAt(pixel, event),
      leave: () => this.#hover.at(null),
    });
    element.addEventListener("keydown", (event) => this.#key(event));
    document.getElementById("map-whole").addEventListener("click", () => this.#frame.showWhole());
  }

  setScene(scene) {
    this.#positions = scene.map;
    this.#frame.cloud.setPositions("samples", scene.map, pointSize(scene.n_drawn));
    this.#frame.setWhole(boundsOf(scene.map));
  }

  // What is in view, [left, low, right, high] in data; nothing while all is.
  get view() {
    return this.#frame.bounds === this.#frame.whole ? null : this.#frame.bounds;
  }

  set view(bounds) {
    this.#frame.bounds = bounds ?? this.#frame.whole;
    this.#frame.redraw();
  }

  recolour() {
    this.#frame.recolour();
  }

  redraw() {
    this.#frame.redraw();
  }

  #colour(cloud) {
    const { clustering, colours, colouring } = this.#app;
    const { clusters, sample } = this.#app.choice;
    const opacity = this.#positions.length > 40_000 ? 0.75 : 0.9;
    cloud.setColours("samples", this.#app.tintsOf(opacity));
    cloud.setPositions("peaks", clustering.peaks_map, ...peakStyle(this.#frame, clustering));
    const peakShade = colouring.shadeOfPeaks(clustering.clusters);
    const isChosen = clusters.size ? (place) => clusters.has(clustering.clusters[place]) : null;
    const isBehind = sample || !this.#app.selection.isEmpty;
    cloud.setColours("peaks", colours.ofPoints(clustering.clusters, isBehind ? 0.5 : 1, isChosen, peakShade));
    this.#markSelected(cloud);
  }

  // Draw with the next drag: "lasso" or "box".
  toggleMode(name) {
    this.#modes.toggle(name);
  }

  stopDrawing() {
    const was = this.#modes.current !== null;
    this.#modes.clear();
    return was;
  }

  // Select the samples in view: for whoever has no pointer.
  selectInView() {
    const { left, top, width, height } = this.#frame.area;
    const corners = boxOf([left, top], [left + width, top + height]);
    const polygon = corners.map((pixel) => this.#frame.toData(...pixel));
    this.#app.selection.select({ polygon }, "in view");
  }

  #markSelected(cloud) {
    const { marks } = this.#app.selection;
    const few = marks && marks.n_found <= MOST_ENLARGED && this.#app.colouring.isByCluster;
    const labels = few ? marks.labels : new Int32Array();
    const size = pointSize(this.#app.scene.n_drawn) + 3;
    cloud.setPositions("selected", few ? marks.places : new Float32Array(), size, inkOf(this.#frame.element).rim);
    cloud.setColours("selected", this.#app.colours.ofPoints(labels, 1, null));
  }

  #begin(pixel, event) {
    if (!event.shiftKey && !this.#modes.current) return null;
    return this.#outline.drag(pixel, this.#modes.current === "box");
  }

  #pointAt(pixel, event) {
    if (event.shiftKey || this.#modes.current) {
      this.#hover.at(null);
      return "crosshair";
    }
    if (this.tags.at(pixel) !== undefined) {
      this.#hover.at(null);
      return "pointer";
    }
    const found = this.#frame.nearest(this.#positions, ...pixel);
    this.#hover.at(found < 0 ? null : this.#app.scene.drawn[found], pixel);
    return found < 0 ? null : "pointer";
  }

  #click(pixel, event) {
    const { clustering, choice, scene } = this.#app;
    const isMore = event.ctrlKey || event.metaKey;
    const tagged = this.tags.at(pixel);
    if (tagged !== undefined) {
      choice.choose(tagged, isMore);
      return;
    }
    const peak = this.#frame.nearest(clustering.peaks_map, ...pixel, 6);
    const found = this.#frame.nearest(this.#positions, ...pixel);
    if (isMore) {
      if (found >= 0) choice.choose(clustering.labels[found], true);
    } else if (peak >= 0) choice.explain(clustering.peaks[peak]);
    else if (found >= 0) choice.explain(scene.drawn[found]);
    else choice.chooseNothing();
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") this.#explainMiddle();
    else if (!moveByKey(this.#frame, event.key)) return;
    event.preventDefault();
  }

  // The sample nearest to the middle of the view.
  #explainMiddle() {
    const { left, top, width, height } = this.#frame.area;
    const found = this.#frame.nearest(this.#positions, left + width / 2, top + height / 2, Infinity);
    if (found >= 0) this.#app.choice.explain(this.#app.scene.drawn[found]);
  }

  #paint(context) {
    if (!this.#app.clustering) return;
    const ink = inkOf(this.#frame.element);
    const about = this.#app.choice.sample;
    this.tags.paint(context, ink);
    if (about) this.#paintPath(context, ink, about);
    if (this.#app.pointed) ring(context, ink, this.#frame.toPixel(...this.#app.pointed.map), 8);
    this.#outline.paint(context, ink);
  }

  #paintPath(context, ink, about) {
    const at = (placed) => this.#frame.toPixel(...placed.map);
    const path = about.path.map(at);
    for (const neighbor of about.neighbors) {
      context.strokeStyle = ink.text;
      context.lineWidth = 1;
      stroke(context, [path[0], at(neighbor)]);
      ring(context, ink, at(neighbor), 4, 1);
    }
    for (const [colour, width] of [
      [ink.paper, 5],
      [ink.strong, 2.5],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      stroke(context, path);
    }
    ring(context, ink, path[0], 6);
    ring(context, ink, path[path.length - 1], 10);
  }
}

export function pointSize(count) {
  if (count > 100_000) return 2.2;
  if (count > 20_000) return 3;
  return count > 3_000 ? 4 : 6;
}

// Size of the marks of peaks, and the colour of their rim: plain points where there are very many.
export function peakStyle(frame, { clusters }) {
  if (clusters.length > 2_000) return [4, [0, 0, 0, 0]];
  const size = clusters.length > 200 ? 6 : clusters.length > 60 ? 9 : 11;
  return [size, inkOf(frame.element).rim];
}
