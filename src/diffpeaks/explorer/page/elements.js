// Elements made from text. Nothing here, or anywhere on the page, makes markup from text.

export function element(tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = name;
  return made;
}

export const paragraph = (text, name) => element("p", text, name);
export const subheading = (text) => element("h3", text);
export const span = (name, text) => element("span", text, name);

export function row(name, children) {
  const made = element("div", "", name);
  made.append(...children);
  return made;
}

export function dot(colour) {
  const made = span("dot", "");
  made.style.background = colour;
  return made;
}

export function heading(colour, text) {
  return row("heading", [dot(colour), element("strong", text)]);
}

export function button(text, title, act, name = "") {
  const made = element("button", text, name);
  made.type = "button";
  made.title = title;
  made.addEventListener("click", act);
  return made;
}

// Names and values; a value may be text or an element, a third entry explains the name.
export function factsTable(facts) {
  const table = document.createElement("table");
  for (const [name, value, explained = ""] of facts) {
    const line = table.insertRow();
    const head = element("th", name);
    head.title = explained;
    line.append(head);
    line.insertCell().append(value);
  }
  return table;
}

// A text in which these words are marked, in whatever case they stand.
export function marked(tag, text, words, name = "") {
  const made = element(tag, "", name);
  const wanted = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).filter(Boolean);
  if (!wanted.length) {
    made.textContent = text;
    return made;
  }
  text.split(new RegExp(`(${wanted.join("|")})`, "giu")).forEach((part, place) => {
    made.append(place % 2 ? element("mark", part) : part);
  });
  return made;
}

export const count = (number) => number.toLocaleString("en");

export const counted = (number, thing) => `${count(number)} ${thing}${number === 1 ? "" : "s"}`;

export const samplesTold = (number) => counted(number, "sample");
