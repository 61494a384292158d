import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";

import { useIsAdmin, usePrompts } from "@/api";
import { classNames } from "@/lib/class_names";
import { useCommand } from "@/lib/commands";
import { settingsPlace } from "@/lib/places";
import { Input } from "@/ui";

import { About } from "./About";
import { Access } from "./Access";
import { Agents } from "./Agents";
import { Appearance } from "./Appearance";
import { Connectors } from "./Connectors";
import { found } from "./found";
import { FoundList } from "./FoundList";
import { Memory } from "./Memory";
import { Models } from "./Models";
import { Notifications } from "./Notifications";
import { Prompts } from "./Prompts";
import { ALL, type Section } from "./sections";
import { SettingGroup } from "./SettingGroup";

export interface SettingsScreenProps {
  /** Of the address: "models", "prompts", … */
  section: string;
}

/** Sections on the left, one of them on the right; what is searched for takes its place. */
export function SettingsScreen({ section: id }: SettingsScreenProps) {
  const section = ALL.find((each) => each.id === id) ?? ALL[0];
  const wanted = useRouterState({ select: (state) => (state.location.hash === "" ? undefined : decodeURIComponent(state.location.hash)) });
  const navigate = useNavigate();
  const prompts = usePrompts();
  const isAdmin = useIsAdmin();
  const [query, setQuery] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const results = found(query, prompts.data ?? []);
  useCommand({ id: "settings.search", title: "Search in settings", group: "Settings", keys: "/", run: () => field.current?.focus() });
  const open = (place: { section: Section; hash: string | undefined }) => {
    setQuery("");
    void navigate({ ...settingsPlace(place.section.id), ...(place.hash !== undefined && { hash: place.hash }) });
  };
  if (section === undefined) return null;
  return (
    <div className="flex h-full min-h-0 max-md:flex-col">
      <div className="flex w-55 shrink-0 flex-col overflow-auto border-r border-line py-3 max-md:w-full max-md:border-r-0 max-md:border-b">
        <div className="px-3 pb-2">
          <Input
            ref={field}
            type="search"
            aria-label="Search in settings"
            placeholder="Search in settings"
            value={query}
            onChange={(event) => setQuery(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") setQuery("");
              if (event.key === "Enter" && results[0] !== undefined) open(results[0]);
            }}
          />
        </div>
        <nav aria-label="Sections of the settings" className="flex flex-col gap-0.5 px-1.5 max-md:flex-row max-md:overflow-x-auto">
          {ALL.map(({ id: each, title, icon: Icon }) => (
            <Link
              key={each}
              {...settingsPlace(each)}
              onClick={() => setQuery("")}
              aria-current={each === section.id ? "page" : undefined}
              className={classNames("focus-inset flex h-8 shrink-0 items-center gap-2 rounded-md px-2 whitespace-nowrap hover:bg-surface-2", each === section.id && "bg-surface-2 font-medium")}
            >
              <Icon aria-hidden size={15} strokeWidth={1.75} className="text-muted" />
              {title}
            </Link>
          ))}
        </nav>
      </div>
      <div className="min-w-0 flex-1 overflow-auto px-6 py-5">
        {query.trim() === "" ? (
          <div className={classNames("mx-auto flex flex-col", section.id === "prompts" ? "h-full max-w-280" : "max-w-190")}>
            <h1 className="text-xl font-semibold">{section.title}</h1>
            <p className="mb-5 text-muted">{section.about}</p>
            {section.id === "prompts" ? (
              <Prompts wanted={wanted} />
            ) : (
              <div>
                <Content section={section} wanted={wanted} />
                {isAdmin === false && section.holds.length > 0 && (
                  <p className="mt-6 rounded-md border border-line bg-surface-1 px-4 py-2.5 text-muted first:mt-0">The settings of this server are seen and changed by those who may administer it.</p>
                )}
              </div>
            )}
          </div>
        ) : (
          <FoundList query={query} results={results} onOpen={open} />
        )}
      </div>
    </div>
  );
}

function Content({ section, wanted }: { section: Section; wanted: string | undefined }): ReactNode {
  switch (section.id) {
    case "models":
      return <Models wanted={wanted} />;
    case "agents":
      return <Agents wanted={wanted} />;
    case "notifications":
      return <Notifications wanted={wanted} />;
    case "connectors":
      return <Connectors wanted={wanted} />;
    case "appearance":
      return <Appearance />;
    case "access":
      return <Access />;
    case "memory":
      return <Memory />;
    case "about":
      return <About />;
    default:
      return section.holds.map((group) => <SettingGroup key={group} group={group} wanted={wanted} />);
  }
}
