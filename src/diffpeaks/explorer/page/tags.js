// Numbers or names of clusters on the map: the largest in view, moved until none covers another.

import { stroke } from "./axes.js";
import { css, inkOn } from "./colours.js";

const MOST = { numbers: 60, names: 40 }; // tags at a time
const FURTHEST = { numbers: Infinity, names: 40 }; // pixels that a tag may be moved; others are left out
const LONGEST_NAME = 20; // characters
const PADDING = [5, 2]; // pixels between text and rim
const ROOM = 3; // pixels between two tags
const N_DIRECTIONS = 16;

// The middles of tags that do not overlap, each as near to its anchor as those before it let it be: as maps.separated_tags
// has it. Nothing for one that would have to be moved further than so many pixels.
export function separatedTags(anchors, sizes, furthest = Infinity) {
  const placed = [];
  return anchors.map((anchor, tag) => {
    const middle = freePlace(anchor, sizes[tag], placed, furthest);
    if (middle) placed.push({ middle, size: sizes[tag] });
    return middle;
  });
}

function freePlace([x, y], [width, height], placed, furthest) {
  const step = Math.min(width, height) / 2;
  const widest = placed.reduce((most, { size }) => Math.max(most, (size[0] + width) / 2, (size[1] + height) / 2), 0);
  const rings = Math.min(2 * placed.length * Math.ceil(widest / step) + 2, furthest / step);
  const isFree = ([px, py]) =>
    placed.every(
      ({ middle, size }) =>
        Math.abs(px - middle[0]) >= (size[0] + width) / 2 || Math.abs(py - middle[1]) >= (size[1] + height) / 2,
    );
  for (let ring = 0; ring < rings; ring += 1) {
    for (let turn = 0; turn < (ring ? N_DIRECTIONS : 1); turn += 1) {
      const angle = Math.PI / 2 + (2 * Math.PI * turn) / N_DIRECTIONS; // upwards first
      const tried = [x + ring * step * rounded(Math.cos(angle)), y + ring * step * rounded(Math.sin(angle))];
      if (isFree(tried)) return tried;
    }
  }
  return null;
}

function rounded(value) {
  return Math.round(1e12 * value) / 1e12;
}

export class Tags {
  #app;
  #frame;
  #select = document.getElementById("tags");
  #drawn = []; // { label, middle, size } of each, in pixels

  constructor(frame, app) {
    this.#app = app;
    this.#frame = frame;
    this.#select.addEventListener("change", () => frame.redraw());
  }

  get kind() {
    return this.#select.value;
  }

  set kind(kind) {
    if ([...this.#select.options].some((option) => option.value === kind)) this.#select.value = kind;
    this.#frame.redraw();
  }

  showNext() {
    const { options, selectedIndex } = this.#select;
    this.kind = options[(selectedIndex + 1) % options.length].value;
  }

  // The cluster whose tag is at a pixel; nothing where none is.
  at([x, y]) {
    const hit = this.#drawn.find(
      ({ middle, size }) => Math.abs(x - middle[0]) <= size[0] / 2 && Math.abs(y - middle[1]) <= size[1] / 2,
    );
    return hit?.label;
  }

  paint(context, ink) {
    this.#drawn = [];
    if (!(this.kind in MOST)) return;
    const fontSize = Math.round(11 * this.#frame.enlarged);
    context.save();
    context.font = `600 ${fontSize}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.globalAlpha = this.#app.selection.isEmpty && !this.#app.choice.sample ? 1 : 0.6;
    const tags = this.#placed(context, fontSize);
    for (const tag of [...tags].reverse()) this.#paintTag(context, ink, tag); // the largest on top
    context.restore();
    this.#drawn = tags;
  }

  // The largest clusters in view, with their texts and places.
  #placed(context, fontSize) {
    const { left, top, width, height } = this.#frame.area;
    const { clusters, sizes, peaks_map: places } = this.#app.clustering;
    const chosen = this.#app.choice.clusters;
    const tags = [];
    clusters.forEach((label, place) => {
      if (chosen.size && !chosen.has(label)) return;
      const anchor = this.#frame.toPixel(places[2 * place], places[2 * place + 1]);
      const isInView = anchor[0] >= left && anchor[0] <= left + width && anchor[1] >= top && anchor[1] <= top + height;
      if (isInView) tags.push({ label, anchor, samples: sizes[place] });
    });
    tags.sort((one, other) => other.samples - one.samples || one.label - other.label);
    const shown = tags.slice(0, MOST[this.kind]);
    for (const tag of shown) {
      tag.text = this.#textOf(tag.label);
      tag.size = [context.measureText(tag.text).width + 2 * PADDING[0], fontSize + 2 * PADDING[1] + 2];
    }
    const upwards = shown.map(({ anchor: [x, y] }) => [x, -y]); // where pixels count downwards
    const rooms = shown.map(({ size }) => size.map((length) => length + ROOM));
    separatedTags(upwards, rooms, FURTHEST[this.kind]).forEach((middle, place) => {
      shown[place].middle = middle && [middle[0], -middle[1]];
    });
    return shown.filter(({ middle }) => middle);
  }

  #textOf(label) {
    const name = this.kind === "names" ? this.#app.names.of(label) : "";
    if (!name) return String(label);
    const words = name.split(", ");
    while (words.length > 1 && words.join(", ").length > LONGEST_NAME) words.pop();
    const letters = [...words.join(", ")];
    return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join("")}…` : letters.join("");
  }

  #paintTag(context, ink, { label, text, anchor, middle, size: [width, height] }) {
    const { colouring, colours } = this.#app;
    const colour = colouring.isByCluster ? colours.of(label) : colours.noise;
    if (Math.hypot(anchor[0] - middle[0], anchor[1] - middle[1]) > 1) {
      context.strokeStyle = ink.text;
      context.lineWidth = 1;
      stroke(context, [anchor, middle]);
    }
    context.beginPath();
    context.roundRect(middle[0] - width / 2, middle[1] - height / 2, width, height, 4);
    context.fillStyle = css(colour);
    context.fill();
    context.strokeStyle = ink.paper;
    context.lineWidth = 1;
    context.stroke();
    context.fillStyle = inkOn(colour);
    context.fillText(text, middle[0], middle[1] + 0.5);
  }
}
