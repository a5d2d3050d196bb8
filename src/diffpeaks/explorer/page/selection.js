// Samples that were found by words, or drawn around on the map: where they are, a table of them, what to do with them.

import { question, readJson, save } from "./api.js";
import { shortNumber } from "./axes.js";
import { button, count, dot, element, marked, row, samplesTold, span } from "./elements.js";
import { picture } from "./pictures.js";
import { Sorting } from "./sorting.js";

const ROWS_A_PAGE = 50;
const [SAMPLE, CLUSTER, TEXT, DENSITY] = ["sample", "cluster", "text", "density"]; // what tables may be sorted by
const COLUMN = "column:"; // before the name of a column
const byId = (id) => document.getElementById(id);

export class Selection {
  #app;
  #query = null; // { text } or { polygon }
  #told = "";
  #found = null;
  #isSelected = null; // of each sample
  #start = 0; // of the page
  #rows = []; // of the page, as the server tells them
  #cursor = 0;
  #asked = 0;
  #sorting = new Sorting(DENSITY, true, () => this.#resort());
  #panel = byId("selection-panel");
  #table = byId("selection");

  constructor(app) {
    this.#app = app;
    byId("gather").addEventListener("click", () => this.#gather());
    byId("save-selection").addEventListener("click", () => app.attempt(() => this.#save()));
    byId("close-selection").addEventListener("click", () => this.clear());
    this.#table.addEventListener("keydown", (event) => this.#key(event));
    this.#table.addEventListener("pointerleave", () => app.point(null));
  }

  get isEmpty() {
    return this.#found === null;
  }

  // The words that were looked for, to be marked wherever they stand.
  get words() {
    return this.#query?.text?.split(/\s+/).filter(Boolean) ?? [];
  }

  // Where the first selected samples are on the map.
  get marks() {
    return this.#found;
  }

  get query() {
    return this.#query;
  }

  has(sample) {
    return this.#isSelected[sample] === 1;
  }

  // Select what a query finds; told says how it was asked for.
  select(query, told) {
    this.#query = query;
    this.#told = told;
    this.#start = this.#cursor = 0;
    return this.refresh();
  }

  // Ask again: the clusters have changed.
  refresh() {
    if (!this.#query) return undefined;
    this.#asked += 1;
    const turn = this.#asked;
    return this.#app.attempt(async () => {
      const found = await question("select", { ...this.#query, order: this.#order });
      if (turn !== this.#asked || !this.#query) return;
      this.#found = found;
      this.#isSelected = new Uint8Array(this.#app.scene.n_samples);
      for (const sample of found.samples) this.#isSelected[sample] = 1;
      this.#panel.hidden = false;
      document.querySelector("main").classList.add("selecting");
      this.#showHead();
      await this.#showPage();
      this.#app.repaint();
      document.documentElement.dataset.selected = found.n_found;
    });
  }

  clear() {
    if (!this.#query) return false;
    this.#asked += 1;
    this.#query = this.#found = this.#isSelected = null;
    this.#panel.hidden = true;
    document.querySelector("main").classList.remove("selecting");
    delete document.documentElement.dataset.selected;
    byId("search").value = "";
    this.#app.point(null);
    this.#app.repaint();
    return true;
  }

  #showHead() {
    const { n_found: number, n_clusters: clusters, clusters: counts } = this.#found;
    byId("selection-told").textContent = `${samplesTold(number)} ${this.#told}`;
    for (const id of ["gather", "save-selection"]) byId(id).disabled = number === 0;
    const chips = counts.map(([label, share]) => {
      const name = `${this.#app.names.full(label)}: ${count(share)}`;
      const chip = button("", `Choose ${this.#app.names.full(label)}`, () => this.#app.choice.choose(label, false), "chip");
      chip.append(dot(this.#app.colours.css(label)), span("", name));
      chip.disabled = label < 0;
      return chip;
    });
    const more = clusters - counts.filter(([label]) => label >= 0).length;
    if (more > 0) chips.push(span("quiet", `and ${count(more)} more ${more === 1 ? "cluster" : "clusters"}`));
    byId("selection-clusters").replaceChildren(...chips);
  }

  async #showPage() {
    const samples = [...this.#found.samples.slice(this.#start, this.#start + ROWS_A_PAGE)];
    const told = samples.length ? await readJson("/api/samples", { samples: samples.join(",") }) : { samples: [] };
    this.#rows = told.samples;
    this.#table.replaceChildren(this.#tableOf(this.#rows), this.#pages());
    this.#table.scrollTop = 0;
  }

  // As the server is told it.
  get #order() {
    const { by, descending } = this.#sorting;
    return by.startsWith(COLUMN) ? { column: by.slice(COLUMN.length), descending } : { by, descending };
  }

  async #resort() {
    const { by } = this.#sorting;
    this.#start = this.#cursor = 0;
    await this.refresh();
    [...this.#table.querySelectorAll(".sorter")].find((made) => made.dataset.column === by)?.focus();
  }

  #tableOf(samples) {
    const { columns, has_texts: hasTexts, has_pictures: hasPictures } = this.#app.scene;
    const table = element("table", "", "sheet");
    const head = table.createTHead().insertRow();
    if (hasPictures) head.append(element("th"));
    const keys = [SAMPLE, CLUSTER, ...(hasTexts ? [TEXT] : []), ...columns.map((name) => COLUMN + name), DENSITY];
    for (const key of keys) {
      const cell = head.appendChild(element("th"));
      cell.setAttribute("aria-sort", this.#sorting.ariaOf(key));
      const name = key.startsWith(COLUMN) ? key.slice(COLUMN.length) : key;
      cell.append(this.#sorting.head(key, name, key === DENSITY));
    }
    const body = table.createTBody();
    samples.forEach((one, place) => body.append(this.#row(one, place)));
    return table;
  }

  #row(one, place) {
    const { columns, has_texts: hasTexts, has_pictures: hasPictures } = this.#app.scene;
    const { words } = this;
    const line = element("tr");
    line.dataset.place = place;
    line.classList.toggle("cursor", place === this.#cursor);
    const cluster = element("td", "", "cluster");
    cluster.append(dot(this.#app.colours.css(one.label)), span("", this.#app.names.full(one.label)));
    if (hasPictures) line.insertCell().append(one.caption.picture ? picture(one.sample, "thumbnail") : "");
    line.append(marked("td", one.caption.name, words), cluster);
    if (hasTexts) line.insertCell().append(marked("div", one.caption.text, words, "text-cell"));
    for (const name of columns) line.append(marked("td", one.caption.metadata[name] ?? "", words));
    line.append(element("td", shortNumber(one.density), "number"));
    line.addEventListener("click", () => this.#app.choice.explain(one.sample));
    line.addEventListener("pointerenter", () => this.#app.point(one));
    return line;
  }

  #pages() {
    const number = this.#found.n_found;
    if (number <= ROWS_A_PAGE) return row("pages", []);
    const last = Math.min(this.#start + ROWS_A_PAGE, number);
    const turn = (step) => () => this.#turn(step);
    const buttons = [button("Previous", "Page Up", turn(-1)), button("Next", "Page Down", turn(1))];
    buttons[0].disabled = this.#start === 0;
    buttons[1].disabled = last >= number;
    return row("pages", [...buttons, span("quiet", `${count(this.#start + 1)}–${count(last)} of ${count(number)}`)]);
  }

  #turn(step) {
    const start = this.#start + step * ROWS_A_PAGE;
    if (start < 0 || start >= this.#found.n_found) return;
    this.#start = start;
    this.#cursor = 0;
    this.#app.attempt(() => this.#showPage());
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const page = { PageDown: 1, PageUp: -1 }[event.key];
    if (step === undefined && page === undefined && event.key !== "Enter") return;
    if (event.target.closest("button")) return;
    event.preventDefault();
    if (page) this.#turn(page);
    else if (event.key === "Enter") this.#app.choice.explain(this.#rows[this.#cursor].sample);
    else this.#moveTo(Math.min(this.#rows.length - 1, Math.max(0, this.#cursor + step)));
  }

  #moveTo(place) {
    this.#cursor = place;
    const lines = [...this.#table.querySelectorAll("tbody tr")];
    lines.forEach((line, other) => line.classList.toggle("cursor", other === place));
    lines[place]?.scrollIntoView({ block: "nearest" });
    this.#app.point(this.#rows[place] ?? null);
  }

  #gather() {
    const query = this.#query;
    if (!query) return;
    this.clear(); // what was selected is then chosen as a cluster
    this.#app.change("gather", query);
  }

  async #save() {
    save("selected.csv", await question("selected.csv", this.#query));
  }
}

// The box in which words are typed.
export function connectSearch(app) {
  const input = byId("search");
  let timer = 0;
  const look = () => {
    const text = input.value.trim();
    if (!text) app.selection.clear();
    return text ? app.selection.select({ text }, `with “${text}”`) : undefined;
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 180);
  });
  input.addEventListener("keydown", async (event) => {
    if (event.key !== "Enter") return;
    clearTimeout(timer);
    await look();
    byId("selection").focus();
  });
}
