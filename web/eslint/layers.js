/** The rule that holds the layers: app → features → ui, api → lib. Features do not know each other. */
import path from "node:path";

const MAY_USE = {
  app: ["app", "features", "ui", "api", "lib"],
  features: ["ui", "api", "lib"],
  ui: ["ui", "lib"],
  api: ["api", "lib"],
  lib: ["lib"],
  testing: ["ui", "api", "lib", "testing"],
};

/** The folders below `src` that lead to a file, or null for what is not ours. */
function placeOf(file) {
  const [, below] = file.split(path.sep).join("/").split("/src/");
  return below === undefined ? null : below.split("/");
}

function target(source, file) {
  if (source.startsWith("@/")) return source.slice(2).split("/");
  return source.startsWith(".") ? placeOf(path.resolve(path.dirname(file), source)) : null;
}

/** Why one place may not import another; null where it may. */
export function refusal(from, to) {
  if (to === null || from === null || from.length < 2) return null;
  const [layer, noun] = from;
  const [wanted, wantedNoun, ...rest] = to;
  if (wanted === "testing") return from.at(-1).includes(".test.") || layer === "testing" ? null : "Only tests use src/testing.";
  if (layer === "features" && wanted === "features") {
    return noun === wantedNoun ? null : "Features do not import each other; share through ui, api or lib.";
  }
  if (!(MAY_USE[layer] ?? []).includes(wanted)) return `${layer} may not import ${wanted}.`;
  const inside = rest.length > 0 && !(rest.length === 1 && rest[0] === "index");
  if (wanted === "features" && inside) return "Import a feature through its index.";
  return null;
}

export const layers = {
  meta: { type: "problem", schema: [] },
  create(context) {
    const from = placeOf(context.filename);
    const check = (node) => {
      if (typeof node.source?.value !== "string") return;
      const message = refusal(from, target(node.source.value, context.filename));
      if (message !== null) context.report({ node, message });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};
