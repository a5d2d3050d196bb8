// Points by the processor: discs that are blended pixel by pixel. See points.js for what is offered.
// Colours are 4 bytes as in an image, read as one number: opacity, blue, green, red from the highest byte on.

import { packed } from "./colours.js";

const MARGIN = 64; // pixels around the picture, so that discs at its edge need no care
const PHASES = 4; // places within a pixel, along each axis, at which a disc is drawn
const WHOLE = 256; // shares are of 256, so that a shift divides
const RED_BLUE = 0xff00ff;
const OPAQUE = 0xff0000; // beside green, where a channel above it is opacity
const COVERED = 0xf9000000; // from this opacity on nothing more is seen of what lies below

export class Raster {
  #context;
  #image = null;
  #pixels = null; // of the image, premultiplied while points are drawn
  #layers = new Map();

  constructor(context) {
    this.#context = context;
    if (!context) throw new Error("This browser draws no canvas, which the plots need. Try another browser.");
  }

  setPositions(name, positions, size, rim = [0, 0, 0, 0]) {
    const [red, green, blue, opacity] = rim.map((part) => Math.round(255 * part));
    const outline = opacity ? packed(red, green, blue) : null;
    this.#layers.set(name, { ...this.#layers.get(name), positions, size, outline, colours: new Uint32Array() });
  }

  setColours(name, colours) {
    this.#layers.get(name).colours = colours;
  }

  draw(scale, offset, ratio) {
    const { width, height } = this.#context.canvas;
    if (this.#image?.width !== width + 2 * MARGIN || this.#image.height !== height + 2 * MARGIN) {
      this.#image = new ImageData(width + 2 * MARGIN, height + 2 * MARGIN);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    } else this.#pixels.fill(0);
    const zoom = [(scale[0] * width) / 2, (-scale[1] * height) / 2];
    const origin = [((offset[0] + 1) * width) / 2 + MARGIN, ((1 - offset[1]) * height) / 2 + MARGIN];
    for (const layer of [...this.#layers.values()].reverse()) {
      if (layer.colours.length) this.#drawLayer(layer, zoom, origin, discOf(layer.size * ratio, this.#image.width));
    }
    toStraight(this.#pixels);
    this.#context.putImageData(this.#image, -MARGIN, -MARGIN);
  }

  // The last point first: what is on top is drawn before what it covers.
  #drawLayer({ positions, colours, outline }, [zoomX, zoomY], [originX, originY], disc) {
    const pixels = this.#pixels;
    const { width, height } = this.#image;
    const { side, phases } = disc;
    const half = side / 2;
    for (let i = colours.length - 1; i >= 0; i -= 1) {
      const x = positions[2 * i] * zoomX + originX - half;
      const y = positions[2 * i + 1] * zoomY + originY - half;
      if (!(x >= 0 && y >= 0 && x < width - side && y < height - side)) continue;
      const column = x | 0;
      const line = y | 0;
      const phase = phases[(((y - line) * PHASES) | 0) * PHASES + (((x - column) * PHASES) | 0)];
      const opacity = colours[i] >>> 24;
      const weight = opacity + (opacity >> 7); // of 256
      const corner = line * width + column;
      if (outline === null) slipUnder(pixels, corner, phase, colours[i], weight);
      else slipOutlinedUnder(pixels, corner, phase, colours[i], outline, weight);
    }
  }
}

function slipUnder(pixels, corner, { places, inside }, colour, weight) {
  for (let j = 0; j < places.length; j += 1) {
    const at = corner + places[j];
    if (pixels[at] < COVERED) pixels[at] = under(pixels[at], colour, (inside[j] * weight) >> 8);
  }
}

function slipOutlinedUnder(pixels, corner, { places, inside, edge }, colour, outline, weight) {
  for (let j = 0; j < places.length; j += 1) {
    const at = corner + places[j];
    const shade = mixed(colour, outline, edge[j]);
    if (pixels[at] < COVERED) pixels[at] = under(pixels[at], shade, (inside[j] * weight) >> 8);
  }
}

// What is there, and so much of a colour as shines through: two channels at a time.
function under(there, colour, share) {
  const seen = (share * (WHOLE - (there >>> 24))) >> 8;
  const even = (Math.imul(colour & RED_BLUE, seen) >>> 8) & RED_BLUE;
  const odd = (Math.imul(OPAQUE | ((colour >> 8) & 255), seen) >>> 8) & RED_BLUE;
  return (there + even + (odd << 8)) >>> 0;
}

// So much of a colour over another, without their opacity.
function mixed(below, above, share) {
  const rest = WHOLE - share;
  const even = (Math.imul(above & RED_BLUE, share) + Math.imul(below & RED_BLUE, rest)) >>> 8;
  const green = (Math.imul((above >> 8) & 255, share) + Math.imul((below >> 8) & 255, rest)) >> 8;
  return (even & RED_BLUE) | (green << 8);
}

// Which pixels a disc covers and by how much, for each place of its middle within a pixel; as points.frag has it.
function discOf(size, stride) {
  const side = Math.ceil(size) + 1;
  const radius = size / 2;
  const phases = [];
  for (let phase = 0; phase < PHASES * PHASES; phase += 1) {
    const middle = [phase % PHASES, Math.floor(phase / PHASES)].map((step) => side / 2 + (step + 0.5) / PHASES);
    const covered = { places: [], inside: [], edge: [] };
    for (let y = 0; y <= side; y += 1) {
      for (let x = 0; x <= side; x += 1) {
        const distance = Math.hypot(x + 0.5 - middle[0], y + 0.5 - middle[1]);
        const inside = Math.round(WHOLE * within(radius - distance + 0.5));
        if (!inside) continue;
        covered.places.push(y * stride + x);
        covered.inside.push(inside);
        covered.edge.push(Math.round(WHOLE * within(distance - radius + 1.8)));
      }
    }
    phases.push(Object.fromEntries(Object.entries(covered).map(([name, values]) => [name, Int32Array.from(values)])));
  }
  return { side, phases };
}

function within(share) {
  return Math.min(1, Math.max(0, share));
}

// From colours times their opacity to colours, as an image has them.
function toStraight(pixels) {
  for (let i = 0; i < pixels.length; i += 1) {
    const value = pixels[i];
    const opacity = value >>> 24;
    if (opacity === 0 || opacity === 255) continue;
    const factor = 255 / opacity;
    const blue = Math.min(255, ((value >>> 16) & 255) * factor);
    const green = Math.min(255, ((value >>> 8) & 255) * factor);
    const red = Math.min(255, (value & 255) * factor);
    pixels[i] = (opacity << 24) | (blue << 16) | (green << 8) | red;
  }
}
