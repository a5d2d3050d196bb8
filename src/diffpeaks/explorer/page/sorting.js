// By which column a table is sorted, and the buttons in its head that say so.

import { button } from "./elements.js";

export class Sorting {
  #changed;

  // by: the key of a column; changed() is told of another order.
  constructor(by, descending, changed) {
    Object.assign(this, { by, descending });
    this.#changed = changed;
  }

  // The head of a column; another click turns its order around. startsHigh: the largest comes first at first.
  head(key, name, startsHigh = false) {
    const isSorted = key === this.by;
    const made = button(name, `Sort by ${name}`, () => this.#press(key, startsHigh), "sorter");
    made.dataset.arrow = isSorted ? (this.descending ? "▼" : "▲") : "";
    made.dataset.column = key;
    made.setAttribute("aria-pressed", String(isSorted));
    return made;
  }

  // What a table head is told of its column.
  ariaOf(key) {
    if (key !== this.by) return "none";
    return this.descending ? "descending" : "ascending";
  }

  set(by, descending) {
    Object.assign(this, { by, descending });
    this.#changed();
  }

  #press(key, startsHigh) {
    this.set(key, key === this.by ? !this.descending : startsHigh);
  }
}

// Put other buttons into a head; the focus stays on the column that it is on.
export function fillHead(head, buttons) {
  const focused = head.contains(document.activeElement) ? document.activeElement.dataset.column : null;
  head.replaceChildren(...buttons);
  buttons.find((made) => made.dataset.column === focused)?.focus();
}
