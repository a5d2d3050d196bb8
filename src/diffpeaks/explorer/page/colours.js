// Colours of clusters: which of the palette a cluster has comes with it, and stays its own. A colour is a number of three
// bytes: blue, green, red from the highest on, as the pixels of an image have them.

const PALE = { few: 0.1, many: 0.03 }; // opacity of what is not chosen: many points add up
const MANY = 40_000;
const NOISE_OPACITY = 0.55; // beside that of clusters
const BLACK_ABOVE = 0.55; // lightness of a colour on which black is read better than white

export function fromHex(hex) {
  return packed(...[1, 3, 5].map((place) => parseInt(hex.slice(place, place + 2), 16)));
}

export function packed(red, green, blue) {
  return (blue << 16) | (green << 8) | red;
}

function parts(colour) {
  return [colour & 255, (colour >> 8) & 255, colour >> 16];
}

export function css(colour) {
  return `rgb(${parts(colour).join(" ")})`;
}

// Black or white, whichever is read better on a colour.
export function inkOn(colour) {
  const [red, green, blue] = parts(colour);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 255 * BLACK_ABOVE ? "#000000" : "#ffffff";
}

export class Colours {
  #ofNumber = new Int32Array(); // the colour of each number that is listed

  constructor({ clusters, noise }) {
    this.palette = clusters.map(fromHex);
    this.noise = fromHex(noise);
  }

  // The clusters have changed.
  follow({ clusters, colours }) {
    const highest = clusters.reduce((most, label) => Math.max(most, label), -1);
    this.#ofNumber = Int32Array.from({ length: highest + 1 }, (_, label) => this.#plain(label));
    clusters.forEach((label, place) => (this.#ofNumber[label] = this.palette[colours[place]]));
  }

  of(label) {
    if (label < 0) return this.noise;
    return label < this.#ofNumber.length ? this.#ofNumber[label] : this.#plain(label);
  }

  css(label) {
    return css(this.of(label));
  }

  // Of a cluster that is too small for the list.
  #plain(label) {
    return this.palette[label % this.palette.length];
  }

  // Four bytes a point: those that are not lit are pale, noise is thin. Nothing given for isLit lights all.
  ofPoints(labels, opacity, isLit, shade = (place) => this.of(labels[place])) {
    const found = new Uint32Array(labels.length);
    const { full, thin, pale } = strengths(opacity, labels.length);
    for (let i = 0; i < labels.length; i += 1) {
      const strength = !isLit || isLit(i) ? (labels[i] < 0 ? thin : full) : pale;
      found[i] = strength | shade(i);
    }
    return found;
  }

  // The same by clusters alone, of which those that are chosen stand out: one look at a table for each point.
  ofClusters(labels, opacity, chosen) {
    const { full, thin, pale } = strengths(opacity, labels.length);
    let highest = -1;
    for (let i = 0; i < labels.length; i += 1) if (labels[i] > highest) highest = labels[i];
    const table = new Uint32Array(highest + 2); // from noise on
    table[0] = this.noise | (chosen.size ? pale : thin);
    for (let label = 0; label <= highest; label += 1) {
      table[label + 1] = this.of(label) | (!chosen.size || chosen.has(label) ? full : pale);
    }
    const found = new Uint32Array(labels.length);
    for (let i = 0; i < labels.length; i += 1) found[i] = table[labels[i] + 1];
    return found;
  }
}

// Opacities as the highest of four bytes: of what is lit, of noise that is, and of what is not.
function strengths(opacity, count) {
  const shares = { full: 1, thin: NOISE_OPACITY, pale: count > MANY ? PALE.many : PALE.few };
  return Object.fromEntries(Object.entries(shares).map(([name, share]) => [name, Math.round(255 * opacity * share) << 24]));
}
