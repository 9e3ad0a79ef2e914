import simpleImportSort from "eslint-plugin-simple-import-sort"
import tseslint from "typescript-eslint"

const barrels = ["effect", "@effect/platform", "@effect/platform-node", "@effect/cli", "@effect/sql"]

export default tseslint.config(
  { ignores: ["dist", "node_modules", "test/fixtures/invalid", "test/.examples"] },
  ...tseslint.configs.recommended,
  {
    plugins: { "simple-import-sort": simpleImportSort },
    rules: {
      "simple-import-sort/imports": ["error", { groups: [["^node:", "^@?\\w", "^\\."]] }],
      "simple-import-sort/exports": "error",
      "@typescript-eslint/array-type": ["error", { default: "generic", readonly: "generic" }],
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "separate-type-imports" }],
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-namespace": "off",
      "@typescript-eslint/no-unsafe-function-type": "off",
      "require-yield": "off",
      "object-shorthand": "error",
      eqeqeq: "error",
      "no-console": "error"
    }
  },
  {
    files: ["src/**/*.ts"],
    rules: {
      "no-restricted-imports": [
        "error",
        { paths: barrels.map((name) => ({ name, message: "Import the module itself, e.g. effect/Effect." })) }
      ]
    }
  },
  {
    files: ["bench/**/*.ts", "scripts/**/*.ts", "examples/**/*.ts", "scripts/**/*.mjs"],
    rules: { "no-console": "off" }
  }
)
