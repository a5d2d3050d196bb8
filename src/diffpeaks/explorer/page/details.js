// What is known of the sample or the cluster that was chosen. All text is set as text, never as markup.

import { readBlob, readJson } from "./api.js";
import { shortNumber } from "./axes.js";

const PATH_SHOWN = 14; // samples of a long path

export class Details {
  #app;
  #element;
  #pictures = [];

  constructor(element, app) {
    this.#app = app;
    this.#element = element;
  }

  showNothing() {
    const { scene } = this.#app;
    const thinned = scene && scene.n_drawn < scene.n_samples;
    this.#fill([
      paragraph("Click a sample to see why it is in its cluster, or a cluster to see its members."),
      paragraph(
        "Drag the dashed lines to move the cut. Hold Shift in the decision graph and draw around the peaks to choose them by hand.",
      ),
      ...(thinned ? [paragraph("Clusters, sizes and exports are of all samples; only the drawing is thinned.")] : []),
    ]);
  }

  showError(message) {
    this.#fill([paragraph(message)]);
  }

  showSample(about) {
    const where = about.label < 0 ? "noise" : `cluster ${about.label}`;
    const facts = [
      ["density", shortNumber(about.density)],
      ["delta", about.delta === null ? "∞, no denser neighbour" : shortNumber(about.delta)],
      ["peak", this.#sampleButton(about.path[about.path.length - 1])],
      ["its prominence", about.prominence === null ? "∞" : shortNumber(about.prominence)],
      ["its hill meets", about.meets ?? "no denser hill"],
    ];
    this.#fill([
      heading(this.#app.colours.css(about.label), `${about.caption.name} — ${where}`),
      ...this.#caption(about),
      paragraph(`Why: ${about.reason}.`),
      factsTable(facts),
      subheading(about.path.length > 1 ? `Path to the peak, ${about.path.length - 1} steps` : "It is the peak"),
      this.#chips(shortened(about.path), about.saddles),
      subheading(`Neighbours, ${about.neighbors.length} of ${about.n_neighbors}`),
      this.#samples(about.neighbors, (one) => shortNumber(one.distance)),
    ]);
  }

  showCluster(about) {
    const pages = [];
    if (about.start > 0) pages.push(this.#pageButton("Denser", about, about.start - about.members_a_page));
    const next = about.start + about.members.length;
    if (next < about.size) pages.push(this.#pageButton("Less dense", about, next));
    const last = about.start + about.members.length;
    const shown =
      about.members.length < about.size
        ? `${about.start + 1}–${last} of ${about.size.toLocaleString("en")}`
        : `all ${about.size.toLocaleString("en")}`;
    this.#fill([
      heading(this.#app.colours.css(about.cluster), `Cluster ${about.cluster}`),
      factsTable([
        ["samples", about.size.toLocaleString("en")],
        ["peak", this.#sampleButton(about.peak)],
        ["prominence", about.prominence === null ? "∞" : shortNumber(about.prominence)],
      ]),
      subheading(`Members, densest first: ${shown}`),
      this.#samples(about.members, (one) => shortNumber(one.density)),
      row("pages", pages),
    ]);
  }

  showSeveral(labels, sizes) {
    const total = sizes.reduce((sum, size) => sum + size, 0);
    this.#fill([
      subheading(`${labels.length} clusters chosen, ${total.toLocaleString("en")} samples`),
      paragraph("Merge (M) makes them one."),
    ]);
  }

  #fill(children) {
    for (const address of this.#pictures) URL.revokeObjectURL(address);
    this.#pictures = [];
    this.#element.replaceChildren(...children);
    this.#element.scrollTop = 0;
  }

  #caption({ sample, caption }) {
    const found = [];
    if (caption.picture) found.push(this.#picture(sample, "picture"));
    if (caption.text) found.push(withClass(paragraph(caption.text), "text"));
    const known = Object.entries(caption.metadata);
    if (known.length) found.push(factsTable(known));
    return found;
  }

  #samples(placed, value) {
    const list = document.createElement("ul");
    list.className = placed.some((one) => one.caption.picture) ? "samples pictured" : "samples";
    for (const one of placed) {
      const item = document.createElement("li");
      if (one.caption.picture) item.append(this.#picture(one.sample, "thumbnail"));
      item.append(this.#sampleButton(one), span("excerpt", one.caption.text), span("number", value(one)));
      list.append(item);
    }
    return list;
  }

  #chips(path, saddles) {
    return row(
      "chips",
      path.map((one) => {
        if (one === null) return span("quiet", "…");
        const button = this.#sampleButton(one);
        if (saddles.includes(one.sample)) button.classList.add("saddle");
        return button;
      }),
    );
  }

  #sampleButton({ sample, label, caption }) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sample";
    button.textContent = caption.name;
    button.style.borderColor = this.#app.colours.css(label);
    button.title = `Explain sample ${caption.name}`;
    button.addEventListener("click", () => this.#app.explain(sample));
    return button;
  }

  #pageButton(name, about, start) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    const read = () => readJson("/api/members", { cluster: about.cluster, start: Math.max(0, start) });
    button.addEventListener("click", () => this.#app.attempt(async () => this.showCluster(await read())));
    return button;
  }

  #picture(sample, name) {
    const image = document.createElement("img");
    image.className = name;
    image.alt = "";
    readBlob("/api/picture", { sample }).then(
      (blob) => {
        const address = URL.createObjectURL(blob);
        this.#pictures.push(address);
        image.src = address;
      },
      () => image.remove(),
    );
    return image;
  }
}

function shortened(path) {
  if (path.length <= PATH_SHOWN) return path;
  const half = PATH_SHOWN / 2;
  return [...path.slice(0, half), null, ...path.slice(-half)];
}

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

const paragraph = (text) => element("p", text);
const subheading = (text) => element("h3", text);
const span = (name, text) => withClass(element("span", text), name);

function withClass(made, name) {
  made.className = name;
  return made;
}

function row(name, children) {
  const made = withClass(document.createElement("div"), name);
  made.append(...children);
  return made;
}

function heading(colour, text) {
  const dot = span("dot", "");
  dot.style.background = colour;
  return row("heading", [dot, element("strong", text)]);
}

function factsTable(facts) {
  const table = document.createElement("table");
  for (const [name, value] of facts) {
    const line = table.insertRow();
    line.append(element("th", name));
    line.insertCell().append(value);
  }
  return table;
}
