// A plot that can be moved and zoomed: canvases for axes, points and marks, one above the other, and the way between
// data and pixels.

import { drawSoon } from "./drawing.js";
import { paperOf, pointCloud } from "./points.js";

export class Frame {
  lastCost = 0; // milliseconds that it took to draw
  #cloud;
  #isColoured = true;
  #size = [1, 1];

  // margins: pixels kept free for axes, [left, top, right, bottom]. square: one unit is as long on both axes.
  // colour(cloud) gives the points their colours, paintAxes(context) draws below them, paint(context) above them.
  constructor(element, shaders, { margins, square, colour = () => {}, paintAxes = () => {}, paint }) {
    Object.assign(this, { element, margins, square, colour, paintAxes, paint });
    for (const name of ["ground", "canvas", "overlay"]) {
      this[name] = element.appendChild(document.createElement("canvas"));
    }
    if (shaders) this.#cloud = pointCloud(this.canvas, shaders);
    this.whole = this.bounds = [0, 0, 1, 1];
    new ResizeObserver(() => this.#resize()).observe(element);
  }

  get cloud() {
    return this.#cloud;
  }

  get ratio() {
    return window.devicePixelRatio || 1;
  }

  // What is shown when nothing is zoomed: [left, low, right, high] in data.
  setWhole(bounds) {
    if (this.bounds === this.whole) this.bounds = bounds; // what is zoomed stays where it is
    this.whole = bounds;
    this.redraw();
  }

  showWhole() {
    this.bounds = this.whole;
    this.redraw();
  }

  // How much larger marks are than on a small screen.
  get enlarged() {
    const { width, height } = this.area;
    return Math.min(1.8, Math.max(1, Math.sqrt(width * height) / 800));
  }

  // The area of the plot in pixels.
  get area() {
    const [left, top, right, bottom] = this.margins;
    const [width, height] = this.#size;
    return { left, top, width: Math.max(1, width - left - right), height: Math.max(1, height - top - bottom) };
  }

  // Pixels for one unit of data on each axis, and the data at the middle.
  get #lens() {
    const [x0, y0, x1, y1] = this.bounds;
    const { width, height } = this.area;
    const zoom = [width / (x1 - x0), height / (y1 - y0)];
    if (this.square) zoom.fill(Math.min(...zoom));
    return { zoom, middle: [(x0 + x1) / 2, (y0 + y1) / 2] };
  }

  toPixel(x, y) {
    const { zoom, middle } = this.#lens;
    const { left, top, width, height } = this.area;
    return [left + width / 2 + (x - middle[0]) * zoom[0], top + height / 2 - (y - middle[1]) * zoom[1]];
  }

  toData(px, py) {
    const { zoom, middle } = this.#lens;
    const { left, top, width, height } = this.area;
    return [middle[0] + (px - left - width / 2) / zoom[0], middle[1] - (py - top - height / 2) / zoom[1]];
  }

  // Zoom by a factor around a pixel.
  zoomAt(factor, px, py) {
    const [x, y] = this.toData(px, py);
    const [x0, y0, x1, y1] = this.bounds;
    this.bounds = [x + (x0 - x) * factor, y + (y0 - y) * factor, x + (x1 - x) * factor, y + (y1 - y) * factor];
    this.redraw();
  }

  moveBy(dx, dy) {
    const { zoom } = this.#lens;
    const [x0, y0, x1, y1] = this.bounds;
    const shift = [dx / zoom[0], dy / zoom[1]];
    this.bounds = [x0 - shift[0], y0 + shift[1], x1 - shift[0], y1 + shift[1]];
    this.redraw();
  }

  // The nearest of these points (x, y, x, y, ...) within so many pixels; -1 without one.
  nearest(positions, px, py, within = 9) {
    const { zoom } = this.#lens;
    const [x, y] = this.toData(px, py);
    let best = within * within;
    let found = -1;
    for (let i = 0; i < positions.length; i += 2) {
      const dx = (positions[i] - x) * zoom[0];
      const dy = (positions[i + 1] - y) * zoom[1];
      const square = dx * dx + dy * dy;
      if (square <= best) [best, found] = [square, i / 2];
    }
    return found;
  }

  // Draw soon.
  redraw() {
    drawSoon(this);
  }

  // Draw soon, and colour the points before.
  recolour() {
    this.#isColoured = false;
    drawSoon(this);
  }

  drawNow() {
    const start = performance.now();
    if (this.#cloud) {
      if (!this.#isColoured) this.colour(this.#cloud);
      this.#isColoured = true;
      const [width, height] = this.#size;
      const origin = this.toPixel(0, 0);
      const { zoom } = this.#lens;
      const scale = [(2 * zoom[0]) / width, (2 * zoom[1]) / height];
      const offset = [(2 * origin[0]) / width - 1, 1 - (2 * origin[1]) / height];
      this.#cloud.draw(scale, offset, this.ratio * this.enlarged);
    }
    this.paintAxes(this.#cleared(this.ground));
    this.paint(this.#cleared(this.overlay));
    this.lastCost = performance.now() - start;
  }

  #cleared(canvas) {
    const context = paperOf(canvas);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, ...this.#size);
    // a canvas that is only cleared may go on showing what it had
    context.fillStyle = "rgb(128 128 128 / 1%)";
    context.fillRect(0, 0, 1, 1);
    return context;
  }

  #resize() {
    const { clientWidth, clientHeight } = this.element;
    this.#size = [Math.max(1, clientWidth), Math.max(1, clientHeight)];
    for (const canvas of [this.ground, this.canvas, this.overlay]) {
      canvas.width = Math.round(this.#size[0] * this.ratio);
      canvas.height = Math.round(this.#size[1] * this.ratio);
    }
    this.drawNow();
  }
}

// Bounds of points (x, y, x, y, ...), a little wider than they are.
export function boundsOf(positions, share = 0.04) {
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i += 2) {
    if (positions[i] < x0) x0 = positions[i];
    if (positions[i] > x1) x1 = positions[i];
    if (positions[i + 1] < y0) y0 = positions[i + 1];
    if (positions[i + 1] > y1) y1 = positions[i + 1];
  }
  const wider = [share * (x1 - x0) || 0.5, share * (y1 - y0) || 0.5];
  return [x0 - wider[0], y0 - wider[1], x1 + wider[0], y1 + wider[1]];
}
