// Light or dark: as the system says, until the button says otherwise.

const KEY = "diffpeaks-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

// What was chosen last time; nothing where the browser keeps nothing, as in the frame of another site.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it holds until the page is closed
  }
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

export function connectTheme(repaint) {
  const button = document.getElementById("theme");
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    repaint();
  };
  const kept = remembered();
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    remember(document.documentElement.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  show();
}
