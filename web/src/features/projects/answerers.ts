import type { Shapes } from "@/api";

/** Models and agent programs that can answer for a project. */
export function answererOptions(models: Shapes["ModelsShape"] | undefined): { value: string; label: string }[] {
  const usable = (models?.providers ?? []).filter(({ name, model, usable }) => name !== "builtin" && usable && model !== null);
  return [
    ...usable.map(({ model }) => ({ value: model ?? "", label: model ?? "" })),
    ...(models?.programs ?? []).map(({ name, version }) => ({ value: name, label: `${name} ${version}` })),
  ];
}
