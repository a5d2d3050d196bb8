// Colours of clusters: a cluster keeps its colour as long as it keeps its peak, whatever its number becomes.

const PALE = { few: 0.1, many: 0.03 }; // opacity of what is not chosen: many points add up
const MANY = 40_000;

function bytes(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

export class Colours {
  #slots = new Map(); // from peaks to places in the palette
  #used;
  #ofLabel = []; // [red, green, blue] of each label

  constructor({ clusters, noise }) {
    this.palette = clusters.map(bytes);
    this.noise = bytes(noise);
    this.#used = new Array(clusters.length).fill(0);
  }

  // Give each cluster a colour: labels and peaks of the clusters that are listed.
  assign(labels, peaks) {
    const slots = new Map();
    const used = new Array(this.palette.length).fill(0);
    const fresh = [];
    peaks.forEach((peak, place) => {
      const slot = this.#slots.get(peak);
      if (slot === undefined) fresh.push(place);
      else {
        slots.set(peak, slot);
        used[slot] += 1;
      }
    });
    for (const place of fresh) {
      const slot = used.indexOf(Math.min(...used));
      slots.set(peaks[place], slot);
      used[slot] += 1;
    }
    this.#slots = slots;
    this.#ofLabel = [];
    labels.forEach((label, place) => (this.#ofLabel[label] = this.palette[slots.get(peaks[place])]));
  }

  of(label) {
    if (label < 0) return this.noise;
    return this.#ofLabel[label] ?? this.palette[label % this.palette.length];
  }

  css(label) {
    return `rgb(${this.of(label).join(" ")})`;
  }

  // Four bytes a point; with `chosen` labels the others are pale.
  ofPoints(labels, opacity, chosen) {
    const found = new Uint8Array(4 * labels.length);
    const full = Math.round(255 * opacity);
    const pale = 255 * opacity * (labels.length > MANY ? PALE.many : PALE.few);
    for (let i = 0; i < labels.length; i += 1) {
      const label = labels[i];
      const [red, green, blue] = this.of(label);
      found[4 * i] = red;
      found[4 * i + 1] = green;
      found[4 * i + 2] = blue;
      found[4 * i + 3] = !chosen.size || chosen.has(label) ? (label < 0 ? full * 0.55 : full) : pale;
    }
    return found;
  }
}
