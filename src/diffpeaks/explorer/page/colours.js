// Colours of clusters: they follow the number, which a cluster keeps.

const PALE = { few: 0.1, many: 0.03 }; // opacity of what is not chosen: many points add up
const MANY = 40_000;

function bytes(hex) {
  return [1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16));
}

export class Colours {
  constructor({ clusters, noise }) {
    this.palette = clusters.map(bytes);
    this.noise = bytes(noise);
  }

  of(label) {
    return label < 0 ? this.noise : this.palette[label % this.palette.length];
  }

  css(label) {
    return `rgb(${this.of(label).join(" ")})`;
  }

  // Four bytes a point: those that are not lit are pale, noise is thin. Nothing given for isLit lights all.
  ofPoints(labels, opacity, isLit, shade = (place) => this.of(labels[place])) {
    const found = new Uint8Array(4 * labels.length);
    const full = Math.round(255 * opacity);
    const pale = 255 * opacity * (labels.length > MANY ? PALE.many : PALE.few);
    for (let i = 0; i < labels.length; i += 1) {
      const [red, green, blue] = shade(i);
      found[4 * i] = red;
      found[4 * i + 1] = green;
      found[4 * i + 2] = blue;
      found[4 * i + 3] = !isLit || isLit(i) ? (labels[i] < 0 ? full * 0.55 : full) : pale;
    }
    return found;
  }
}
