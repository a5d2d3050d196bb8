// The list of clusters. Only rows in view exist, as there may be many thousands.

import { count, dot, span } from "./elements.js";
import { picture } from "./pictures.js";
import { Sorting, fillHead } from "./sorting.js";

const ROW = 30; // pixels, as in style.css
const SPARE = 6; // rows beyond the view

export class ClusterList {
  #app;
  #element;
  #head = document.getElementById("clusters-head");
  #inner;
  #order = []; // places in the arrays of the clustering
  #largest = 1; // the size of the largest cluster, which has the longest bar
  #cursor = 0;
  #anchor = 0;

  constructor(element, app) {
    this.#app = app;
    this.#element = element;
    this.#inner = element.appendChild(document.createElement("div"));
    this.#inner.className = "tall";
    element.addEventListener("scroll", () => this.#show());
    element.addEventListener("keydown", (event) => this.#key(event));
    element.addEventListener("click", (event) => this.#click(event));
    new ResizeObserver(() => this.#show()).observe(element);
    this.sorting = new Sorting("size", true, () => this.recolour());
  }

  recolour() {
    const { clusters, sizes } = this.#app.clustering;
    this.#order = this.#sorted();
    this.#largest = sizes.reduce((most, size) => Math.max(most, size), 1);
    this.#cursor = Math.min(this.#cursor, Math.max(0, clusters.length - 1));
    this.#inner.style.height = `${ROW * clusters.length}px`;
    const head = [
      this.sorting.head("label", "number"),
      this.sorting.head("name", "name"),
      this.sorting.head("size", "samples", true),
    ];
    fillHead(this.#head, head);
    this.#show();
  }

  // Places of clusters in the chosen order; those without a name come last in that of names.
  #sorted() {
    const { clusters, sizes } = this.#app.clustering;
    const { by, descending } = this.sorting;
    const sign = descending ? -1 : 1;
    const order = Array.from(clusters.keys());
    if (by === "size") return order.sort((a, b) => sign * (sizes[a] - sizes[b]) || clusters[a] - clusters[b]);
    if (by === "label") return order.sort((a, b) => sign * (clusters[a] - clusters[b]));
    const names = order.map((place) => this.#app.names.of(clusters[place]));
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    return order.sort((a, b) => !names[a] - !names[b] || sign * compare(names[a], names[b]) || clusters[a] - clusters[b]);
  }

  // Bring a cluster into view.
  reveal(label) {
    const row = this.#order.findIndex((place) => this.#app.clustering.clusters[place] === label);
    if (row < 0) return;
    this.#cursor = this.#anchor = row;
    this.#scrollTo(row);
    this.#show();
  }

  #labelAt(row) {
    return this.#app.clustering.clusters[this.#order[row]];
  }

  #show() {
    if (!this.#app.clustering) return;
    const first = Math.max(0, Math.floor(this.#element.scrollTop / ROW) - SPARE);
    const last = Math.min(
      this.#order.length,
      Math.ceil((this.#element.scrollTop + this.#element.clientHeight) / ROW) + SPARE,
    );
    const rows = [];
    for (let row = first; row < last; row += 1) rows.push(this.#row(row));
    this.#inner.replaceChildren(...rows);
    const active = rows.some((row) => row.id === `cluster-row-${this.#cursor}`);
    if (active) this.#element.setAttribute("aria-activedescendant", `cluster-row-${this.#cursor}`);
    else this.#element.removeAttribute("aria-activedescendant");
  }

  #row(row) {
    const { clustering, colours, names, scene } = this.#app;
    const place = this.#order[row];
    const label = clustering.clusters[place];
    const element = document.createElement("div");
    element.id = `cluster-row-${row}`;
    element.className = "row";
    element.setAttribute("role", "option");
    element.setAttribute("aria-selected", String(this.#app.choice.clusters.has(label)));
    element.setAttribute("aria-posinset", String(row + 1));
    element.setAttribute("aria-setsize", String(this.#order.length));
    element.classList.toggle("cursor", row === this.#cursor);
    element.dataset.row = row;
    element.dataset.cluster = label;
    element.style.top = `${ROW * row}px`;
    const bar = span("share", "");
    const filled = bar.appendChild(span("filled", ""));
    filled.style.width = `${(100 * clustering.sizes[place]) / this.#largest}%`;
    filled.style.background = colours.css(label);
    const name = span(names.isGiven(label) ? "name given" : "name quiet", names.of(label));
    name.title = names.of(label);
    const size = span("size", count(clustering.sizes[place]));
    element.append(dot(colours.css(label)), span("label", String(label)));
    if (scene.has_pictures) element.append(picture(clustering.peaks[place], "thumbnail"));
    element.append(name, bar, size);
    return element;
  }

  #click(event) {
    const element = event.target.closest(".row");
    if (!element) return;
    const row = Number(element.dataset.row);
    this.#chooseRow(row, event.ctrlKey || event.metaKey, event.shiftKey);
  }

  #chooseRow(row, more, range) {
    this.#cursor = row;
    if (range) {
      const [low, high] = [Math.min(row, this.#anchor), Math.max(row, this.#anchor)];
      const labels = [];
      for (let place = low; place <= high; place += 1) labels.push(this.#labelAt(place));
      this.#app.choice.chooseAll(labels);
      return;
    }
    this.#anchor = row;
    this.#app.choice.choose(this.#labelAt(row), more);
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.#element.clientHeight / ROW) - 1);
    const last = this.#order.length - 1;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last }[event.key];
    const isChoice = event.key === " " || event.key === "Enter";
    if ((step === undefined && !isChoice) || last < 0) return;
    event.preventDefault();
    if (isChoice) {
      this.#chooseRow(this.#cursor, event.key === " ", false);
      return;
    }
    const row = Math.min(last, Math.max(0, this.#cursor + step));
    this.#scrollTo(row);
    this.#chooseRow(row, false, event.shiftKey);
  }

  #scrollTo(row) {
    const { scrollTop, clientHeight } = this.#element;
    if (ROW * row < scrollTop) this.#element.scrollTop = ROW * row;
    else if (ROW * (row + 1) > scrollTop + clientHeight) this.#element.scrollTop = ROW * (row + 1) - clientHeight;
  }
}
