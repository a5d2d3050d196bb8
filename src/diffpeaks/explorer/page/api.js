// Questions to the server. The token comes in the part of the address that browsers keep to themselves.

const HEADERS = { "X-Diffpeaks-Token": location.hash.slice(1) };
const ARRAYS = { f: Float32Array, i: Int32Array, u: Uint32Array };

const REVISION = "X-Diffpeaks-Revision";
const CONFLICT = 409;

export class Refusal extends Error {}

// A change was refused because it was about a state that is no more.
export class Stale extends Refusal {}

// Who is told the revision of the clusters with every answer.
let tellRevision = () => {};

export function onRevision(listener) {
  tellRevision = listener;
}

async function asked(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...HEADERS, ...options.headers } });
  } catch {
    throw new Refusal("The server does not answer; the program that opened this page has ended.");
  }
  if (!response.ok) throw new (response.status === CONFLICT ? Stale : Refusal)((await response.json()).error);
  tellRevision(Number(response.headers.get(REVISION) ?? 0));
  return response;
}

function addressOf(path, values) {
  const query = new URLSearchParams(values).toString();
  return query ? `${path}?${query}` : path;
}

export async function readJson(path, values = {}) {
  return (await asked(addressOf(path, values))).json();
}

export async function readBlob(path, values = {}) {
  return (await asked(addressOf(path, values))).blob();
}

export async function readPacket(path, values = {}) {
  return unpacked(await (await asked(addressOf(path, values))).arrayBuffer());
}

function posted(name, values, headers = {}) {
  const json = { "Content-Type": "application/json", ...headers };
  return asked(`/api/${name}`, { method: "POST", headers: json, body: JSON.stringify(values) });
}

// A question that is too long for an address: a packet, or a file.
export async function question(name, values) {
  const response = await posted(name, values);
  const isPacket = response.headers.get("Content-Type") === "application/octet-stream"; // all else is a file
  return isPacket ? unpacked(await response.arrayBuffer()) : response.blob();
}

// A change of the clusters as they were at a revision.
export async function change(name, values, revision) {
  return unpacked(await (await posted(name, values, { [REVISION]: revision })).arrayBuffer());
}

// JSON and the arrays behind it, as one object; see views.packed.
export function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const { arrays, ...found } = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let place = 4 + length;
  for (const [name, kind, size] of arrays) {
    found[name] = new ARRAYS[kind](buffer, place, size);
    place += 4 * size;
  }
  return found;
}

// Let the browser keep bytes as a file.
export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// One piece of work at a time. Of those that only show something the newest waits alone; others all wait.
export class Turns {
  #busy = false;
  #waiting = [];

  get isBusy() {
    return this.#busy;
  }

  async take(work, passing = false) {
    this.#waiting = this.#waiting.filter((other) => !other.passing);
    this.#waiting.push({ work, passing });
    if (this.#busy) return;
    this.#busy = true;
    while (this.#waiting.length) {
      try {
        await this.#waiting.shift().work();
      } catch (error) {
        reportError(error); // what fails must not keep the others waiting
      }
    }
    this.#busy = false;
  }
}
