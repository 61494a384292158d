import a11y from "eslint-plugin-jsx-a11y";
import hooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";

import { layers } from "./eslint/layers.js";

export default tseslint.config(
  { ignores: ["node_modules", "src/api/schema.d.ts", "dist"] },
  {
    files: ["src/**/*.{ts,tsx}"],
    extends: [...tseslint.configs.strictTypeChecked, a11y.flatConfigs.recommended],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "react-hooks": hooks, forge: { rules: { layers } } },
    rules: {
      ...hooks.configs.recommended.rules,
      // The compiler's own advice; virtual lists and the editor hand out mutable objects on purpose.
      "react-hooks/incompatible-library": "off",
      "forge/layers": "error",
      "no-console": "error",
      "no-restricted-globals": ["error", { name: "fetch", message: "Use src/api/client." }],
      "max-lines": ["error", { max: 260, skipBlankLines: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true, ignoreVoidOperator: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: { attributes: false } }],
      // Answers of the server get their type from who asks.
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      // Dialogs and inputs that open on request take the focus; that is what was asked for.
      "jsx-a11y/no-autofocus": "off",
    },
  },
  { files: ["src/api/client.ts"], rules: { "no-restricted-globals": "off" } },
  {
    files: ["src/**/*.test.{ts,tsx}", "src/testing/**"],
    rules: { "@typescript-eslint/no-non-null-assertion": "off", "@typescript-eslint/no-unnecessary-condition": "off", "@typescript-eslint/no-empty-function": "off", "@typescript-eslint/unbound-method": "off", "no-restricted-globals": "off" },
  },
);
