// What is known of the sample under the pointer, beside it: cluster, picture, text and columns.

import { readJson } from "./api.js";
import { element, factsTable, heading, marked } from "./elements.js";
import { picture } from "./pictures.js";

const PAUSE = 70; // milliseconds that a pointer rests on a sample before it is asked for
const MOST_KEPT = 400; // captions
const LONGEST_TEXT = 360; // characters
const MOST_COLUMNS = 8;
const GAP = 14; // pixels between pointer and box

export class Hover {
  #app;
  #box;
  #host;
  #sample = null;
  #timer = 0;
  #known = new Map();

  constructor(host, app) {
    this.#app = app;
    this.#host = host;
    this.#box = host.appendChild(element("div", "", "hover"));
    this.#box.hidden = true;
    this.#box.setAttribute("aria-hidden", "true"); // the details say the same
  }

  // A sample at a pixel of the host, or none.
  at(sample, pixel) {
    if (sample === this.#sample) {
      if (sample !== null) this.#place(pixel);
      return;
    }
    clearTimeout(this.#timer);
    this.#sample = sample;
    this.#box.hidden = true;
    if (sample !== null) this.#timer = setTimeout(() => this.#show(sample, pixel), PAUSE);
  }

  async #show(sample, pixel) {
    const about = await this.#about(sample).catch(() => null);
    if (!about || sample !== this.#sample) return;
    const { caption, label } = about;
    const text = caption.text.length > LONGEST_TEXT ? `${caption.text.slice(0, LONGEST_TEXT)}…` : caption.text;
    const { words } = this.#app.selection;
    const parts = [heading(this.#app.colours.css(label), `${caption.name} — ${this.#app.names.full(label)}`)];
    if (caption.picture) parts.push(picture(sample, "picture"));
    if (text) parts.push(marked("p", text, words));
    const known = Object.entries(caption.metadata).filter(([, value]) => value);
    if (known.length) {
      parts.push(factsTable(known.slice(0, MOST_COLUMNS).map(([name, value]) => [name, marked("span", value, words)])));
    }
    this.#box.replaceChildren(...parts);
    this.#box.hidden = false;
    this.#place(pixel);
  }

  // Beside the pointer, on the side where there is room.
  #place([x, y]) {
    const { clientWidth, clientHeight } = this.#host;
    const { offsetWidth, offsetHeight } = this.#box;
    const left = x + GAP + offsetWidth < clientWidth ? x + GAP : x - GAP - offsetWidth;
    const top = Math.min(y + GAP, clientHeight - offsetHeight - 4);
    this.#box.style.left = `${Math.max(4, left)}px`;
    this.#box.style.top = `${Math.max(4, top)}px`;
  }

  // Captions stay the same; the cluster is looked up when it is shown.
  async #about(sample) {
    if (!this.#known.has(sample)) {
      const { samples } = await readJson("/api/samples", { samples: sample });
      if (this.#known.size >= MOST_KEPT) this.#known.clear();
      this.#known.set(sample, samples[0]);
    }
    return { ...this.#known.get(sample), label: this.#app.labelOf(sample) ?? this.#known.get(sample).label };
  }
}
