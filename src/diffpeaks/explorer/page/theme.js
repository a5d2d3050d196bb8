// Light or dark: as the system says, until the button says otherwise.

const KEY = "diffpeaks-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

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
  const kept = localStorage.getItem(KEY);
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem(KEY, document.documentElement.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  show();
}
