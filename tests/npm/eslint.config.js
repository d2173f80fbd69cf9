// The rules of `make check` for all scripts: those of the pages, of the example, and of the tests'
// own tools.
import js from "@eslint/js";
import globals from "globals";

const STRICTER = {
  curly: ["error", "multi-line"],
  eqeqeq: ["error", "always", { null: "ignore" }],
  "no-implicit-coercion": "error",
  "no-param-reassign": "error",
  "no-shadow": "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
  "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  "prefer-template": "error",
};

export default [
  { ...js.configs.recommended, files: ["**/*.js", "**/*.mjs"] },
  { files: ["**/*.js", "**/*.mjs"], rules: STRICTER },
  {
    files: ["controller/*/static/*.js", "subscribers/**/*.js"],
    // loadAgain is defined by display/static/start.js, which every page runs before its modules.
    languageOptions: { globals: { ...globals.browser, loadAgain: "readonly" } },
  },
  {
    files: ["controller/inspection/static/*.js"],
    languageOptions: { sourceType: "script" },
  },
  {
    files: ["subscribers/display/static/worker.js"],
    languageOptions: { globals: globals.sharedWorker },
  },
  {
    // Runs in browsers that know no modules, to say so.
    files: ["subscribers/display/static/no-modules.js"],
    languageOptions: { ecmaVersion: 5, sourceType: "script" },
    rules: { "no-var": "off", "object-shorthand": "off", "prefer-template": "off" },
  },
  {
    files: ["benchmarks/**/*.js", "examples/*.mjs", "tests/npm/*.js"],
    languageOptions: { globals: globals.node },
  },
];
