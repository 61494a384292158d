import { useModels } from "@/api";
import { Badge, Button, copyText, ErrorState, Path, Skeleton } from "@/ui";

import { Part } from "./Part";
import { SettingGroup } from "./SettingGroup";

/** What Forge knows how to run, and how to get it. */
const KNOWN = [
  { name: "claude", install: "npm install --global @anthropic-ai/claude-code" },
  { name: "codex", install: "npm install --global @openai/codex" },
  { name: "gemini", install: "npm install --global @google/gemini-cli" },
  { name: "opencode", install: "npm install --global opencode-ai" },
];

export function Agents({ wanted }: { wanted: string | undefined }) {
  const { data, error, refetch } = useModels();
  const found = data?.programs ?? [];
  const missing = KNOWN.filter(({ name }) => !found.some((each) => each.name === name));
  return (
    <>
      <Part
        title="Found on this machine"
        about="They work in a sandbox on the files of a branch. Forge looks for them on the PATH of the server."
        aside={
          <Button small onClick={() => void refetch()}>
            Look again
          </Button>
        }
      >
        {data === undefined && (error === null ? <Skeleton /> : <ErrorState compact error={error} onRetry={() => void refetch()} />)}
        {found.map((program) => (
          <div key={program.name} role="group" aria-label={program.name} className="flex flex-wrap items-center gap-x-4 px-4 py-3">
            <span className="min-w-24 font-medium">{program.name}</span>
            <span className="min-w-24 flex-1 text-muted">{program.version === "" ? "version unknown" : program.version}</span>
            <span className="font-mono text-xs text-muted">
              <Path path={program.path} />
            </span>
            <Badge meaning="good">found</Badge>
          </div>
        ))}
        {data !== undefined &&
          missing.map(({ name, install }) => (
            <div key={name} role="group" aria-label={name} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3">
              <span className="min-w-24 font-medium">{name}</span>
              <span className="min-w-24 flex-1 text-xs text-muted">Not found. Install it, then look again.</span>
              <code className="rounded-sm bg-surface-2 px-1.5 py-0.5 font-mono text-xs break-all">{install}</code>
              <Button small aria-label={`Copy the command that installs ${name}`} onClick={() => void copyText(install, "Copied the command")}>
                Copy
              </Button>
            </div>
          ))}
      </Part>
      <SettingGroup group="agents" wanted={wanted} nothing="none" />
    </>
  );
}
