// The map: samples in the colours of their clusters, the path of the sample that is explained, its neighbours.

import { inkOf, ring, stroke } from "./axes.js";
import { Frame, boundsOf } from "./frame.js";
import { listen, moveByKey } from "./gestures.js";

const MARGINS = [8, 8, 8, 8];

export class MapPlot {
  #app;
  #frame;
  #positions = new Float32Array();

  constructor(element, shaders, app) {
    this.#app = app;
    this.#frame = new Frame(element, shaders, {
      margins: MARGINS,
      square: true,
      paint: (context) => this.#paint(context),
    });
    listen(this.#frame, { click: (pixel, event) => this.#click(pixel, event) });
    element.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && moveByKey(this.#frame, event.key)) event.preventDefault();
    });
    document.getElementById("map-whole").addEventListener("click", () => this.#frame.showWhole());
  }

  setScene(scene) {
    this.#positions = scene.map;
    this.#frame.cloud.setPositions("samples", scene.map, pointSize(scene.n_drawn));
    this.#frame.setWhole(boundsOf(scene.map));
  }

  recolour() {
    const { clustering, colours, chosen, sample } = this.#app;
    const opacity = this.#positions.length > 40_000 ? 0.75 : 0.9;
    this.#frame.cloud.setColours("samples", colours.ofPoints(clustering.labels, opacity, chosen));
    this.#frame.cloud.setPositions("peaks", clustering.peaks_map, ...peakStyle(this.#frame, clustering));
    this.#frame.cloud.setColours("peaks", colours.ofPoints(clustering.clusters, sample ? 0.5 : 1, chosen));
  }

  redraw() {
    this.#frame.redraw();
  }

  drawNow() {
    this.#frame.drawNow();
  }

  #click(pixel, event) {
    const { clustering, scene } = this.#app;
    const peak = this.#frame.nearest(clustering.peaks_map, ...pixel, 6);
    const found = this.#frame.nearest(this.#positions, ...pixel);
    if (event.ctrlKey || event.metaKey) {
      if (found >= 0) this.#app.choose(clustering.labels[found], true);
    } else if (peak >= 0) this.#app.explain(clustering.peaks[peak]);
    else if (found >= 0) this.#app.explain(scene.drawn[found]);
    else this.#app.chooseNothing();
  }

  #paint(context) {
    const about = this.#app.sample;
    if (!about) return;
    const ink = inkOf(this.#frame.element);
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
