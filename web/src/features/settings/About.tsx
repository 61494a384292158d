import type { ReactNode } from "react";

import { useConnection, useHealth, useSettings, useWho } from "@/api";
import { Button, copyText, ErrorState, Path } from "@/ui";

import { Part } from "./Part";
import { originOf } from "./words";

export function About() {
  const health = useHealth();
  const settings = useSettings();
  const who = useWho();
  const connection = useConnection();
  const of = (name: string) => settings.data?.find((each) => each.name === name);
  const file = settings.data?.map((each) => each.origin).find((origin) => origin !== "default" && !origin.startsWith("variable "));
  return (
    <>
      <Part title="Forge">
        {health.isError && <ErrorState compact error={health.error} onRetry={() => void health.refetch()} />}
        <Fact name="Version">{health.data?.version ?? "…"}</Fact>
        <Fact name="Server">
          {location.host}, process {health.data?.pid ?? "…"}, {connection.state}
        </Fact>
        <Fact name="Signed in as">{who.data?.name}</Fact>
        {["data_dir", "workspace"].map((name) => {
          const found = of(name);
          if (found === undefined) return null;
          return (
            <Fact key={name} name={name === "data_dir" ? "Data directory" : "Workspace"}>
              <span className="font-mono text-xs">
                <Path path={String(found.value)} most={72} />
              </span>
              <span className="text-xs text-muted" title={originOf(found.origin).title}>
                {" "}
                · {originOf(found.origin).word}
              </span>
            </Fact>
          );
        })}
        {settings.data !== undefined && (
          <Fact name="Settings file">
            {file === undefined ? <span className="text-muted">Nothing is set in it; all values are defaults.</span> : <Path path={file} most={72} />}
          </Fact>
        )}
      </Part>
      <Part title="Checks" about="The doctor looks at git, the sandbox, the databases and what is set. It runs in a terminal.">
        <Command text="forge doctor" about="What is wrong, and what to do about it." />
        <Command text="forge config check" about="Whether the settings file is right." />
      </Part>
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <dl className="flex flex-wrap gap-x-4 px-4 py-2.5">
      <dt className="w-32 shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </dl>
  );
}

function Command({ text, about }: { text: string; about: string }) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 px-4 py-2.5">
      <code className="w-44 font-mono text-xs">{text}</code>
      <span className="min-w-40 flex-1 text-muted">{about}</span>
      <Button small aria-label={`Copy ${text}`} onClick={() => void copyText(text, `Copied ${text}`)}>
        Copy
      </Button>
    </div>
  );
}
