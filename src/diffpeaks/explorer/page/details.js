// What is known of the sample or the cluster that was chosen. All text is set as text, never as markup.

import { readJson } from "./api.js";
import { shortNumber } from "./axes.js";
import { button, count, counted, element, factsTable, heading, marked, paragraph, row, samplesTold, span, subheading } from "./elements.js";
import { GLOSSARY, firstWords } from "./glossary.js";
import { picture } from "./pictures.js";

const PATH_SHOWN = 14; // samples of a long path

export class Details {
  #app;
  #panel;

  constructor(panel, app) {
    this.#app = app;
    this.#panel = panel;
  }

  showNothing() {
    const { scene } = this.#app;
    const thinned = scene && scene.n_drawn < scene.n_samples;
    this.#fill([
      paragraph("Click a sample to see why it is in its cluster, or a cluster to see its members and to name it."),
      paragraph("Find samples by words, or draw around them on the map. Drag the dashed lines to move the cut."),
      factsTable(firstWords()),
      ...(thinned ? [paragraph("Clusters, sizes and exports are of all samples; only the drawing is thinned.")] : []),
    ]);
  }

  showError(message) {
    this.#fill([paragraph(message)]);
  }

  showSample(about) {
    const facts = [
      ["density", shortNumber(about.density), GLOSSARY.density],
      ["delta", about.delta === null ? "∞, no denser neighbour" : shortNumber(about.delta), GLOSSARY.delta],
      ["peak", this.#sampleButton(about.path[about.path.length - 1]), GLOSSARY.peak],
      ["its prominence", about.prominence === null ? "∞" : shortNumber(about.prominence), GLOSSARY.prominence],
      ["its hill meets", about.meets ?? "no denser hill", GLOSSARY.saddle],
    ];
    this.#fill([
      heading(this.#app.colours.css(about.label), `${about.caption.name} — ${this.#app.names.full(about.label)}`),
      ...this.#caption(about),
      paragraph(`Why: ${about.reason}.`),
      factsTable(facts),
      subheading(about.path.length > 1 ? `Path to the peak, ${counted(about.path.length - 1, "step")}` : "It is the peak"),
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
        ? `${about.start + 1}–${last} of ${count(about.size)}`
        : `all ${count(about.size)}`;
    this.#fill([
      heading(this.#app.colours.css(about.cluster), `Cluster ${about.cluster}`),
      this.#nameField(about),
      ...characterOf(about),
      factsTable([
        ["samples", count(about.size)],
        ["peak", this.#sampleButton(about.peak), GLOSSARY.peak],
        ["prominence", about.prominence === null ? "∞" : shortNumber(about.prominence), GLOSSARY.prominence],
      ]),
      subheading(`Members, densest first: ${shown}`),
      this.#samples(about.members, (one) => shortNumber(one.density)),
      row("pages", pages),
    ]);
  }

  // Where a cluster is given a name; what it is called otherwise stands behind.
  #nameField({ cluster, name, made_name: made }) {
    const label = element("label", "name ", "naming");
    const input = label.appendChild(document.createElement("input"));
    Object.assign(input, { id: "cluster-name", type: "text", maxLength: 80, value: name });
    input.placeholder = made || "give it a name (R)";
    input.addEventListener("change", () => this.#app.change("rename", { cluster, name: input.value }));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") input.blur(); // which is the change
    });
    return label;
  }

  showSeveral(labels) {
    const total = labels.reduce((sum, label) => sum + this.#app.sizeOf(label), 0);
    this.#fill([
      subheading(`${labels.length} clusters chosen, ${samplesTold(total)}`),
      paragraph("Merge (M) makes them one."),
    ]);
  }

  #fill(children) {
    this.#app.point(null);
    this.#panel.replaceChildren(...children);
    this.#panel.scrollTop = 0;
  }

  #caption({ sample, caption }) {
    const found = [];
    if (caption.picture) found.push(picture(sample, "picture"));
    const { words } = this.#app.selection;
    if (caption.text) found.push(marked("p", caption.text, words, "text"));
    const known = Object.entries(caption.metadata).map(([name, value]) => [name, marked("span", value, words)]);
    if (known.length) found.push(factsTable(known));
    return found;
  }

  #samples(placed, value) {
    const list = document.createElement("ul");
    list.className = placed.some((one) => one.caption.picture) ? "samples pictured" : "samples";
    for (const one of placed) {
      const item = document.createElement("li");
      if (one.caption.picture) item.append(picture(one.sample, "thumbnail"));
      const excerpt = marked("span", one.caption.text, this.#app.selection.words, "excerpt");
      item.append(this.#sampleButton(one), excerpt, span("number", value(one)));
      list.append(item);
    }
    return list;
  }

  #chips(path, saddles) {
    return row(
      "chips",
      path.map((one) => {
        if (one === null) return span("quiet", "…");
        const chip = this.#sampleButton(one);
        if (saddles.includes(one.sample)) chip.classList.add("saddle");
        return chip;
      }),
    );
  }

  #sampleButton(one) {
    const { sample, label, caption } = one;
    const made = button(caption.name, `Explain sample ${caption.name}`, () => this.#app.choice.explain(sample), "sample");
    made.style.borderColor = this.#app.colours.css(label);
    made.addEventListener("pointerenter", () => this.#app.point(one));
    made.addEventListener("pointerleave", () => this.#app.point(null));
    return made;
  }

  #pageButton(name, about, start) {
    const read = () => readJson("/api/members", { cluster: about.cluster, start: Math.max(0, start) });
    return button(name, "", () => this.#app.attempt(async () => this.showCluster(await read())));
  }
}

// What sets a cluster apart.
function characterOf({ words, traits }) {
  const found = [];
  if (words.length) found.push(factsTable([["words", words.join(", "), "words that are more frequent here than elsewhere (c-TF-IDF)"]]));
  if (traits.length) {
    const told = "columns in which it differs most from all samples";
    found.push(factsTable(traits.map(({ column, value, of_all: all }) => [column, `${value}, of all ${all}`, told])));
  }
  return found;
}

function shortened(path) {
  if (path.length <= PATH_SHOWN) return path;
  const half = PATH_SHOWN / 2;
  return [...path.slice(0, half), null, ...path.slice(-half)];
}
