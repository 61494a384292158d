import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Server, Terminal } from "lucide-react";
import { useState, type ReactNode, type SyntheticEvent } from "react";

import { answer, api, keys, useIsAdmin, useModels, type Shapes } from "@/api";
import { Button, Input, toast } from "@/ui";

import { told } from "./problems";
import { Select } from "./Select";

const ICONS = { key: KeyRound, program: Terminal, ollama: Server } as const;
const PROVIDERS = ["anthropic", "openai", "openrouter", "google"];

/** The three ways to a model: a key, an agent program that was found here, or Ollama. */
export function ConnectModel({ ways }: { ways: readonly Shapes["Way"][] }) {
  const models = useModels().data;
  const admin = useIsAdmin() === true;
  const programs = models?.programs ?? [];
  const local = models?.providers.find(({ name }) => name === "ollama");
  const more: Record<Shapes["Way"]["way"], ReactNode> = {
    key: admin ? <KeyField /> : null,
    program: <Found>{programs.length > 0 ? `Found here: ${programs.map(({ name }) => name).join(", ")}.` : "None was found here."}</Found>,
    ollama: <Found>{local?.usable === true ? `It answers: ${local.model ?? ""}.` : "It does not answer here."}</Found>,
  };
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium">Connect a model to write it</p>
      <ul className="flex flex-col gap-2">
        {ways.map(({ way, about }) => {
          const Icon = ICONS[way];
          return (
            <li key={way} className="flex gap-2">
              <Icon aria-hidden size={15} className="mt-0.5 shrink-0 text-muted" />
              <div className="flex min-w-0 flex-1 flex-col gap-1">
                <span>{about}</span>
                {more[way]}
              </div>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Found({ children }: { children: ReactNode }) {
  return <span className="text-xs text-muted">{children}</span>;
}

function KeyField() {
  const client = useQueryClient();
  const [provider, setProvider] = useState("anthropic");
  const [key, setKey] = useState("");
  const keep = useMutation({
    mutationFn: () => answer(api.PUT("/api/provider-keys/{provider}", { params: { path: { provider } }, body: { key } })),
    onSuccess: async () => {
      setKey("");
      toast({ text: `Key for ${provider} saved` });
      await client.invalidateQueries({ queryKey: keys.models() });
    },
    onError: (error) => toast({ text: told(error), meaning: "bad" }),
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (key.trim() !== "") keep.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
      <Select label="Provider" value={provider} onChange={setProvider} options={PROVIDERS.map((value) => ({ value, label: value }))} />
      <Input label="Key" type="password" autoComplete="off" value={key} onChange={(event) => setKey(event.target.value)} />
      <Button type="submit" busy={keep.isPending} disabled={key.trim() === ""}>
        Save
      </Button>
    </form>
  );
}
