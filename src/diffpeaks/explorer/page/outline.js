// A line drawn around points: free, or a box.

import { stroke } from "./axes.js";

export class Outline {
  #frame;
  #done;
  #pixels = null;

  // done(polygon) is told the corners in data.
  constructor(frame, done) {
    this.#frame = frame;
    this.#done = done;
  }

  // What a drag that begins here does; see gestures.listen.
  drag(start, isBox) {
    this.#pixels = [start];
    const finish = () => {
      this.#pixels = null;
      this.#frame.redraw();
    };
    return {
      move: (pixel) => {
        if (isBox) this.#pixels = boxOf(start, pixel);
        else this.#pixels.push(pixel);
        this.#frame.redraw();
      },
      end: () => {
        const polygon = this.#pixels.map((pixel) => this.#frame.toData(...pixel));
        finish();
        this.#done(polygon);
      },
      cancel: finish,
    };
  }

  paint(context, ink) {
    if (!this.#pixels) return;
    context.strokeStyle = ink.line;
    context.lineWidth = 2;
    stroke(context, [...this.#pixels, this.#pixels[0]]);
  }
}

export function boxOf([x0, y0], [x1, y1]) {
  return [
    [x0, y0],
    [x1, y0],
    [x1, y1],
    [x0, y1],
  ];
}

// Buttons of which at most one is pressed: what the next drag draws.
export class Modes {
  #buttons;

  constructor(ids) {
    this.#buttons = ids.map((id) => document.getElementById(id));
    for (const button of this.#buttons) button.addEventListener("click", () => this.toggle(button.id));
  }

  get current() {
    return this.#buttons.find((button) => button.getAttribute("aria-pressed") === "true")?.id ?? null;
  }

  toggle(id) {
    const next = id === this.current ? null : id;
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.id === next));
  }

  clear() {
    this.toggle(this.current);
  }
}
