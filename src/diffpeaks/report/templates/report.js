// Comfort alone: a filter for cards and rows, and columns that sort. Without it the page is complete.
(function () {
  "use strict";
  const entries = Array.from(document.querySelectorAll(".filtered"));
  const label = document.querySelector(".filter");
  if (label) {
    const words = entries.map((entry) => entry.textContent.toLowerCase());
    label.hidden = false;
    label.querySelector("input").addEventListener("input", function () {
      const wanted = this.value.trim().toLowerCase();
      entries.forEach((entry, place) => { entry.hidden = !words[place].includes(wanted); });
    });
  }

  function sort(body, column, sign) {
    const rows = Array.from(body.rows);
    const value = (row) => Number(row.cells[column].dataset.value.replace("inf", "Infinity"));
    rows.sort((one, other) => {
      const a = value(one), b = value(other);
      return a === b ? 0 : sign * (a < b ? -1 : 1);
    });
    rows.forEach((row) => body.append(row));
  }

  document.querySelectorAll("table").forEach((table) => {
    const heads = Array.from(table.querySelectorAll("th:not(.wide)"));
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const descends = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", descends ? "descending" : "ascending");
        sort(table.tBodies[0], column, descends ? -1 : 1);
      });
    });
  });
})();
