// Pictures of samples, read once as long as they are kept.

import { readBlob } from "./api.js";
import { element } from "./elements.js";

const MOST_KEPT = 600;
const SMALL = 96; // pixels
const addresses = new Map();

async function addressOf(sample) {
  if (!addresses.has(sample)) {
    if (addresses.size >= MOST_KEPT) forgetOldest();
    addresses.set(sample, readBlob("/api/picture", { sample }).then(URL.createObjectURL));
  }
  return addresses.get(sample);
}

function forgetOldest() {
  const [sample, address] = addresses.entries().next().value;
  addresses.delete(sample);
  address.then(URL.revokeObjectURL, () => {});
}

// An image of a sample, the pixels of a small one as squares; it goes away where there is no picture.
export function picture(sample, name) {
  const image = element("img", "", name);
  image.alt = "";
  image.addEventListener("load", () => image.classList.toggle("small", image.naturalHeight <= SMALL));
  addressOf(sample).then(
    (address) => (image.src = address),
    () => image.remove(),
  );
  return image;
}
