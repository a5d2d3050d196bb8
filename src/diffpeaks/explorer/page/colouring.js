// What points are coloured by: their cluster, or a value of theirs, with a legend.

import { readPacket } from "./api.js";
import { shortNumber } from "./axes.js";
import { css, packed } from "./colours.js";
import { count, dot, element, row, span } from "./elements.js";

const BY_CLUSTER = ""; // no column has this name
const CLUSTER = "cluster";
const FOLLOWS_CUT = "probability"; // all others stay while the cut moves
// Cividis, from low to high: readable with any colour vision, on light and dark.
const RAMP = ["#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838"];
const STEPS = 256;

function rampTable() {
  const ends = RAMP.map((hex) => [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16)));
  return Array.from({ length: STEPS }, (_, step) => {
    const place = (step / (STEPS - 1)) * (ends.length - 1);
    const low = Math.min(Math.floor(place), ends.length - 2);
    return packed(...ends[low].map((value, part) => Math.round(value + (place - low) * (ends[low + 1][part] - value))));
  });
}

export class Colouring {
  #app;
  #select = document.getElementById("colour-by");
  #legend = document.getElementById("legend");
  #ramp = rampTable();
  #found = null; // what the server said, or nothing for clusters

  constructor(app) {
    this.#app = app;
    this.#select.addEventListener("change", () => this.#ask());
  }

  get name() {
    return this.#select.value;
  }

  get isByCluster() {
    return this.#found === null;
  }

  offer(names) {
    const kept = this.#select.value;
    this.#select.replaceChildren(
      ...[BY_CLUSTER, ...names].map((name) => {
        const told = name === CLUSTER ? `${CLUSTER} (column)` : name || CLUSTER;
        const option = element("option", told);
        option.value = name;
        return option;
      }),
    );
    this.show(kept || BY_CLUSTER);
  }

  show(name) {
    if (![...this.#select.options].some((option) => option.value === name)) return;
    this.#select.value = name;
    this.#ask();
  }

  // The cut has moved.
  follow() {
    if (this.name === FOLLOWS_CUT) this.#ask();
  }

  // The colour of the point at a place among those that are drawn.
  shade(labels) {
    const { colours } = this.#app;
    if (this.isByCluster) return (place) => colours.of(labels[place]);
    const { values, kind } = this.#found;
    if (kind === "categories") return (place) => this.#category(values[place]);
    return (place) => (values[place] < 0 ? colours.noise : this.#ramp[Math.round(values[place] * (STEPS - 1))]);
  }

  // Peaks, by the clusters that they are of; grey where colours mean something else.
  shadeOfPeaks(clusters) {
    const { colours } = this.#app;
    return this.isByCluster ? (place) => colours.of(clusters[place]) : () => colours.noise;
  }

  #category(code) {
    const { colours } = this.#app;
    return code < 0 || code >= this.#ownColours ? colours.noise : colours.palette[code % colours.palette.length];
  }

  // Categories with a colour of their own; what is left over has that of noise.
  get #ownColours() {
    return Math.min(this.#found.categories.length, this.#app.colours.palette.length - 1);
  }

  #ask() {
    const name = this.#select.value;
    return this.#app.attempt(async () => {
      const found = name === BY_CLUSTER ? null : await readPacket("/api/colouring", { by: name });
      if (name !== this.#select.value) return;
      this.#found = found;
      this.#showLegend();
      this.#app.repaint();
      document.documentElement.dataset.coloured = name || CLUSTER;
    });
  }

  #showLegend() {
    this.#legend.hidden = this.isByCluster;
    if (this.isByCluster) return;
    const { kind, explained, name, n_missing: missing } = this.#found;
    const title = element("strong", name);
    title.title = explained;
    const parts = kind === "numbers" ? this.#scale() : this.#entries();
    if (missing) parts.push(this.#entry(this.#app.colours.noise, "missing", missing));
    this.#legend.replaceChildren(title, ...parts);
  }

  #scale() {
    const { ends, is_log: isLog } = this.#found;
    const bar = span("ramp", "");
    bar.style.background = `linear-gradient(to right, ${RAMP.join(", ")})`;
    const middle = isLog ? Math.sqrt(ends[0] * ends[1]) : (ends[0] + ends[1]) / 2;
    const ticks = [ends[0], middle, ends[1]].map((value) => span("tick", shortNumber(value)));
    return [bar, row("ticks", ticks)];
  }

  #entries() {
    const { categories, counts } = this.#found;
    return categories.map((name, code) => this.#entry(this.#category(code), name, counts[code]));
  }

  #entry(colour, name, number) {
    return row("entry", [dot(css(colour)), span("excerpt", name), span("number", count(number))]);
  }
}
