/** Who can answer on a branch, what they cost, and who is chosen. */
import { useModels, type Shapes } from "@/api";
import { useStored } from "@/lib/stored";

import type { Answerer } from "./sending";

export interface Choice {
  /** "model:NAME" or "agent:NAME". */
  value: string;
  label: string;
  /** "$2 in, $10 out per million tokens". */
  price: string;
}

const price = (input: number | null, output: number | null) =>
  input === null || output === null ? "" : `$${input} in, $${output} out`;

function choicesOf(models: Shapes["ModelsShape"], wanted: string): Choice[] {
  const usable = models.providers.filter((provider) => provider.usable && provider.model !== null);
  const choices: Choice[] = usable.map((provider) => {
    const model = provider.model ?? "";
    if (model === "builtin") return { value: "model:builtin", label: "Built-in engine", price: "free, no model" };
    return { value: `model:${model}`, label: model, price: price(provider.input_price, provider.output_price) };
  });
  const named = choices.map((choice) => choice.value);
  // The default, and the branch's last one, need not be what a provider names as its usual model.
  for (const model of new Set([wanted, models.chat])) {
    const agent = models.programs.some((program) => model === program.name || model.startsWith(`${program.name}:`));
    if (model !== "" && !agent && !named.includes(`model:${model}`)) {
      const like = usable.find((provider) => model.startsWith(`${provider.name}:`));
      choices.unshift({ value: `model:${model}`, label: model, price: like ? price(like.input_price, like.output_price) : "" });
    }
  }
  const programs = models.programs.map(({ name, version }) => ({ value: `agent:${name}`, label: name, price: `agent program ${version}` }));
  return [...choices, ...programs];
}

export interface Answerers {
  choices: Choice[];
  chosen: Choice | null;
  choose: (value: string) => void;
  answerer: Answerer;
  /** No model is set up, so rules answer. */
  isBuiltIn: boolean;
  error: unknown;
}

/** `last`: who answered the branch's newest turn. */
export function useAnswerers(repo: string, branch: string, last: string): Answerers {
  const [stored, choose] = useStored<string | null>(`chat:model:${repo}:${branch}`, null);
  const { data, error } = useModels();
  if (data === undefined) return { choices: [], chosen: null, choose, answerer: {}, isBuiltIn: false, error };
  const choices = choicesOf(data, last);
  const program = data.programs.find(({ name }) => last === name || last.startsWith(`${name}:`));
  const usual = program ? `agent:${program.name}` : `model:${last === "" ? data.chat : last}`;
  const chosen =
    choices.find(({ value }) => value === stored) ?? choices.find(({ value }) => value === usual) ?? choices[0] ?? null;
  const [kind, ...name] = (chosen?.value ?? "").split(":");
  const answerer: Answerer = chosen === null ? {} : kind === "agent" ? { agent: name.join(":") } : { model: name.join(":") };
  return { choices, chosen, choose, answerer, isBuiltIn: answerer.model === "builtin", error };
}
