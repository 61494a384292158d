import { useIsAdmin, useSettings, type Setting } from "@/api";
import { ErrorState, InlineCode, Skeleton } from "@/ui";

import { Part } from "./Part";
import { subtitleOf } from "./sections";
import { SettingRow, type SettingRowProps } from "./SettingRow";
import { aboutSection, entryOf } from "./values";
import { labelOf, nameOf } from "./words";

export interface SettingGroupProps {
  /** A name at the top of the settings. */
  group: string;
  /** The setting that a link or a search leads to. */
  wanted: string | undefined;
  nothing?: string;
  offered?: readonly string[];
  only?: (name: string) => boolean;
}

/** All settings below one name, for whoever may administer. */
export function SettingGroup({ group, wanted, only, ...rest }: SettingGroupProps) {
  const isAdmin = useIsAdmin();
  const { data, error, refetch } = useSettings();
  if (isAdmin === false) return null;
  const entries = data?.filter(({ name }) => (name === group || name.startsWith(`${group}.`)) && (only?.(name) ?? true));
  return (
    <Part title={subtitleOf(group)} about={<InlineCode text={aboutSection(group)} />}>
      {entries === undefined && (error === null ? <Skeleton /> : <ErrorState compact error={error} onRetry={() => void refetch()} />)}
      {entries?.map((setting) => (
        <Row key={setting.name} setting={setting} wanted={wanted === setting.name} {...rest} />
      ))}
    </Part>
  );
}

/** Parts of a channel, a connector or a board say whose they are. */
function Row({ setting, ...rest }: { setting: Setting } & Omit<SettingRowProps, "entry" | "label">) {
  const parts = setting.name.split(".");
  const owner = parts.length > 2 ? parts.at(-2) : undefined;
  return <SettingRow entry={entryOf(setting)} label={owner === undefined ? undefined : `${nameOf(owner)}: ${lower(labelOf(setting.name))}`} {...rest} />;
}

function lower(words: string): string {
  return words === words.toUpperCase() ? words : words.charAt(0).toLowerCase() + words.slice(1);
}
