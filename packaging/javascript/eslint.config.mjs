import js from "@eslint/js";
import globals from "globals";

const inBrowsers = { globals: globals.browser };

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-shadow": "error",
      "no-unused-expressions": "error",
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  { files: ["src/diffpeaks/explorer/page/*.js"], languageOptions: { ...inBrowsers, sourceType: "module" } },
  { files: ["src/diffpeaks/report/templates/*.js"], languageOptions: { ...inBrowsers, sourceType: "script" } },
];
