import { useNavigate } from "@tanstack/react-router";
import { useState, type SyntheticEvent } from "react";

import { useModels, useProjects, useRepositories } from "@/api";
import { Button, Input, TextArea } from "@/ui";

import { told } from "./problems";
import { Select } from "./Select";
import { idPattern, slug } from "./slug";
import { useStart } from "./useStart";

type Kind = "open" | "plan" | "code";
const KINDS: [Kind, string, string][] = [
  ["open", "Not sure yet", "Forge tells from your words; you confirm it."],
  ["plan", "A plan", "A document: events, strategies, engineering."],
  ["code", "Code", "A tested branch in a repository."],
];

export function NewProject() {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("open");
  const [agent, setAgent] = useState("");
  const [repository, setRepository] = useState("");
  const [after, setAfter] = useState("");
  const [words, setWords] = useState("");
  const { start, isPending, error } = useStart();
  const navigate = useNavigate();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (isPending) return;
    const code = kind === "code";
    const body = {
      name: name.trim() || null,
      agent: agent || null,
      repository: (code && repository) || null,
      after: (code && after) || null,
      deliverable_type: kind === "open" ? null : kind,
    };
    start(words, body);
  };
  const directory = name.trim() === "" ? idPattern() : slug(name);
  return (
    <div className="h-full overflow-auto">
      <form onSubmit={submit} className="mx-auto flex max-w-140 flex-col gap-5 px-4 py-8">
        <div>
          <h1 className="text-xl font-semibold">New project</h1>
          <p className="text-muted">From what is on your mind to a finished plan, or to tested code.</p>
        </div>
        <Input
          label="Name (optional)"
          autoFocus
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="Summer party"
          hint={
            <>
              Directory{" "}
              <output aria-label="Directory" className="font-mono text-text">
                {directory}
              </output>
              {name.trim() === "" && ", called by its id"}
            </>
          }
        />
        <TextArea
          label="Problem or wish (optional)"
          rows={3}
          maxLength={400_000}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          placeholder="Our dispatchers type every order twice, so we want a dashboard."
          hint="Forge answers with questions. You can tell it about your team and systems before or after that."
        />
        <KindChoice kind={kind} onChoose={setKind} />
        {kind === "code" && <CodePlaces repository={repository} onRepository={setRepository} after={after} onAfter={setAfter} />}
        <AgentChoice agent={agent} onChoose={setAgent} />
        {error !== null && (
          <p role="alert" className="text-bad">
            {told(error)}
          </p>
        )}
        <div className="flex gap-2">
          <Button kind="primary" type="submit" busy={isPending}>
            Create the project
          </Button>
          <Button onClick={() => void navigate({ to: "/projects" })}>Cancel</Button>
        </div>
      </form>
    </div>
  );
}

function KindChoice({ kind, onChoose }: { kind: Kind; onChoose: (kind: Kind) => void }) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-xs font-medium">What should come out</legend>
      <div className="grid grid-cols-3 gap-2 max-sm:grid-cols-1">
        {KINDS.map(([value, title, about]) => (
          <label key={value} className="flex cursor-pointer flex-col rounded-md border border-line px-3 py-2 hover:bg-surface-1 has-checked:border-accent has-checked:bg-surface-1 has-focus-visible:outline-2 has-focus-visible:outline-accent">
            <span className="flex items-center gap-2 font-medium">
              <input type="radio" name="kind" value={value} checked={kind === value} onChange={() => onChoose(value)} className="accent-(--accent)" />
              {title}
            </span>
            <span className="text-xs text-muted">{about}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface CodePlacesProps {
  repository: string;
  onRepository: (id: string) => void;
  after: string;
  onAfter: (id: string) => void;
}

function CodePlaces({ repository, onRepository, after, onAfter }: CodePlacesProps) {
  const repositories = useRepositories().data ?? [];
  const plans = (useProjects().data ?? []).filter((each) => each.phase === "done" && each.deliverable_type === "plan" && each.outline === null);
  return (
    <div className="flex flex-col gap-5">
      <Select
        label="Repository (optional)"
        value={repository}
        onChange={onRepository}
        options={[{ value: "", label: "A new one" }, ...repositories.map(({ id, name, path }) => ({ value: id, label: name, title: path }))]}
        hint="Code is built on a new branch; your branches and files are not touched."
      />
      {plans.length > 0 && (
        <Select
          label="Follows a finished plan (optional)"
          value={after}
          onChange={onAfter}
          options={[{ value: "", label: "None" }, ...plans.map(({ id, name }) => ({ value: id, label: name }))]}
        />
      )}
    </div>
  );
}

function AgentChoice({ agent, onChoose }: { agent: string; onChoose: (agent: string) => void }) {
  const models = useModels().data;
  const providers = (models?.providers ?? []).filter(({ name, model }) => name !== "builtin" && model !== null);
  const options = [
    { value: "", label: "As set for each role" },
    { value: "builtin", label: "No model: sorts your words into an outline" },
    ...providers.map(({ model, usable, how }) => ({
      value: model ?? "",
      label: usable ? (model ?? "") : `${model ?? ""} (${how})`,
      disabled: !usable,
    })),
    ...(models?.programs ?? []).map(({ name, version }) => ({ value: name, label: `${name} ${version}` })),
  ];
  const none = models !== undefined && models.chat === "builtin";
  return (
    <Select
      label="Who answers"
      value={agent}
      onChange={onChoose}
      options={options}
      hint={none ? "No model is connected: Forge sorts your words into an outline. A model can write it later; code needs one now." : undefined}
    />
  );
}
