import { Badge, ErrorState, InlineCode, Skeleton } from "@/ui";

import { Part } from "./Part";
import { useConnectors } from "./queries";
import { SettingGroup } from "./SettingGroup";
import { nameOf } from "./words";

const NEEDS: Record<string, string> = {
  notion: "Needs a token of an integration that can read your pages: here, in `FORGE_NOTION_TOKEN`, or in the keyring (service `forge`, name `notion`).",
  google_drive: "Needs the JSON file of a service account or an OAuth client; its path is `credentials_path`.",
};

export function Connectors({ wanted }: { wanted: string | undefined }) {
  const { data, error, refetch } = useConnectors();
  return (
    <>
      <Part title="State" about="As the server that is running has them.">
        {data === undefined && (error === null ? <Skeleton lines={2} /> : <ErrorState compact error={error} onRetry={() => void refetch()} />)}
        {data?.map(({ name, enabled, usable, problem }) => (
          <div key={name} role="group" aria-label={nameOf(name)} className="px-4 py-3">
            <p className="flex items-center gap-3">
              <span className="font-medium">{nameOf(name)}</span>
              {usable ? <Badge meaning="good">usable</Badge> : enabled ? <Badge meaning="bad">cannot be used</Badge> : <span className="text-xs text-muted">turned off</span>}
            </p>
            {problem !== "" && <p className="text-xs text-bad">{problem}</p>}
            {!usable && (
              <p className="text-xs text-muted">
                <InlineCode text={NEEDS[name] ?? "A plugin brings it; its settings are below."} />
              </p>
            )}
          </div>
        ))}
      </Part>
      <SettingGroup group="connectors" wanted={wanted} />
    </>
  );
}
