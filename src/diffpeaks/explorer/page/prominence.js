// Hills by their prominence, the most prominent first, with the line of the cut.

import { drawAxes, drawCutLine, inkOf, linearTicks, logTicks, shortNumber } from "./axes.js";
import { Frame } from "./frame.js";
import { listen } from "./gestures.js";

const MARGINS = [46, 10, 12, 34];
const GRAB = 8; // pixels around the line in which it is grabbed
const KEY_STEP = 0.02;
const NEVER = -1; // stands for infinite prominence: hills that are never absorbed

export class ProminencePlot {
  #app;
  #frame;
  #top = 1; // the largest finite prominence

  constructor(element, app) {
    this.#app = app;
    this.#frame = new Frame(element, null, {
      margins: MARGINS,
      square: false,
      paint: (context) => this.#paint(context),
    });
    listen(this.#frame, {
      begin: (pixel) => this.#begin(pixel),
      click: (pixel) => this.#click(pixel),
      hover: (pixel) => (this.#isOnLine(pixel) ? "ns-resize" : null),
    });
    element.addEventListener("keydown", (event) => this.#key(event));
  }

  // The scale stays while a line is dragged, so that the line stays under the pointer.
  follow({ hill_prominence: rises, n_hills: count, cut }, passing) {
    if (passing) return;
    const finite = rises.reduce((top, rise) => Math.max(top, rise), 0);
    this.#top = Math.max(finite, cut.min_prominence ?? 0) || 1;
    const right = Math.max(Math.log10(Math.max(count, 2)), 0.5);
    this.#frame.setWhole([-0.06 * right, -0.03 * this.#top, 1.04 * right, 1.16 * this.#top]);
  }

  redraw() {
    this.#frame.redraw();
  }

  #height(rise) {
    return rise === NEVER ? 1.09 * this.#top : rise;
  }

  get #level() {
    return this.#app.clustering.cut.min_prominence ?? this.#height(NEVER);
  }

  #isOnLine([, y]) {
    return Math.abs(y - this.#frame.toPixel(0, this.#level)[1]) < GRAB;
  }

  #begin(pixel) {
    if (!this.#isOnLine(pixel)) return null;
    const moved = ([, y], keep) => {
      const rise = Math.max(0, this.#frame.toData(0, y)[1]);
      this.#app.setRule("min_prominence", rise, keep);
    };
    return { move: (to) => moved(to, false), end: (to) => moved(to, true) };
  }

  #click([px, py]) {
    const { hill_places: places, hill_prominence: rises, hill_tops: tops } = this.#app.clustering;
    const positions = new Float32Array(2 * places.length);
    places.forEach((place, i) => {
      positions[2 * i] = Math.log10(place + 1);
      positions[2 * i + 1] = this.#height(rises[i]);
    });
    const found = this.#frame.nearest(positions, px, py);
    if (found >= 0) this.#app.choice.explain(tops[found]);
  }

  #key(event) {
    const step = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP }[event.key];
    if (!step) return;
    event.preventDefault();
    this.#app.setRule("min_prominence", Math.max(0, this.#level + step), true);
  }

  #paint(context) {
    const { clustering } = this.#app;
    if (!clustering) return;
    const ink = inkOf(this.#frame.element);
    const [x0, y0, x1, y1] = this.#frame.bounds;
    const yTicks = linearTicks(Math.max(0, y0), Math.min(y1, 1.02 * this.#top), 5);
    yTicks.push([this.#height(NEVER), "∞"]);
    drawAxes(context, this.#frame, ink, {
      xTicks: logTicks(Math.max(0, x0), x1),
      yTicks,
      xName: "hills, most prominent first",
      yName: "prominence",
    });
    const { left, width } = this.#frame.area;
    const y = this.#frame.toPixel(0, this.#level)[1];
    const rise = clustering.cut.min_prominence;
    drawCutLine(
      context,
      this.#frame,
      ink,
      [
        [left, y],
        [left + width, y],
      ],
      `least prominence ${rise === null ? "∞" : shortNumber(rise)}`,
      this.#freeEnd,
    );
    this.#paintHills(context, ink);
  }

  // The end of the line with fewer hills just above it: the left one where they cross it on the right.
  get #freeEnd() {
    const { hill_places: places, hill_prominence: rises } = this.#app.clustering;
    const isBelow = rises.findIndex((rise) => this.#height(rise) < this.#level);
    const crossing = isBelow < 0 ? Infinity : Math.log10(places[isBelow] + 1);
    const [x0, , x1] = this.#frame.bounds;
    return crossing < (x0 + x1) / 2 ? 1 : 0;
  }

  // Above the line and its name, which must hide none.
  #paintHills(context, ink) {
    const { clustering, colours } = this.#app;
    const { hill_places: places, hill_prominence: rises, hill_labels: labels, hill_tops: tops } = clustering;
    const peaks = new Set(clustering.peaks);
    for (const aboveLine of [false, true]) {
      places.forEach((place, i) => {
        const isPeak = peaks.has(tops[i]);
        if (isPeak !== aboveLine) return;
        const [x, y] = this.#frame.toPixel(Math.log10(place + 1), this.#height(rises[i]));
        context.fillStyle = isPeak ? colours.css(labels[i]) : ink.faint;
        context.beginPath();
        context.arc(x, y, isPeak ? 4.5 : 2.5, 0, 2 * Math.PI);
        context.fill();
      });
    }
  }
}
