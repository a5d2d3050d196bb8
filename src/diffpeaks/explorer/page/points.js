// Points in layers: by the graphics card where there is one, otherwise by the processor.

import { Raster } from "./raster.js";
import { WebGl } from "./webgl.js";

const EMULATED = /swiftshader|llvmpipe|softpipe|software|basic render/i; // cards that are the processor in disguise
let isCardThere = null;

// What both offer:
// - setPositions(name, positions, size, rim): positions (x, y, x, y, ...) of a layer, the diameter of its points in
//   pixels, the colour of their outline; layers are drawn in the order in which they were made.
// - setColours(name, colours): of each point of a layer, as 4 bytes: red, green, blue, opacity.
// - draw(scale, offset, ratio): draw at once; scale and offset take data to the square from -1 to 1.
export function pointCloud(canvas, shaders) {
  return hasCard() ? new WebGl(canvas, shaders) : new Raster(paperOf(canvas));
}

// What else is drawn on a canvas; without a card it is kept where the processor draws it.
export function paperOf(canvas) {
  return canvas.getContext("2d", { willReadFrequently: !hasCard() });
}

function hasCard() {
  isCardThere ??= findCard();
  return isCardThere;
}

// A card that is emulated takes several times as long as the processor does by itself.
function findCard() {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const unmasked = gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  const name = gl.getParameter(unmasked ?? gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !EMULATED.test(name);
}
