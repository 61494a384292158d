/** Every action by name, the last used ones first; branches and projects to go to as well. */
import { useNavigate } from "@tanstack/react-router";
import { Command as Cmdk } from "cmdk";
import { Dialog } from "radix-ui";
import { useBranches, useProjects } from "@/api";
import { useCommandList, type Command } from "@/lib/commands";
import { ranked } from "@/lib/fuzzy";
import { groupBy } from "@/lib/group_by";
import { branchPlace, projectPlace } from "@/lib/places";
import { readStored, writeStored } from "@/lib/stored";
import { Kbd } from "@/ui";

import type { Typing } from "./EarlyField";
import { useHere } from "./here";

const RECENT = "palette.recent";
const NONE: string[] = [];
const REMEMBERED = 6;

/** Those used last come first, under a heading of their own, while nothing is typed. */
export function listed(query: string, commands: readonly Command[], recent: readonly string[]): [string, Command[]][] {
  const found = ranked(query, commands, (each) => `${each.group} ${each.title} ${each.words ?? ""}`, 60).map(({ item }) => item);
  if (query !== "") return found.length === 0 ? [] : [["Results", found]];
  const again = recent.flatMap((id) => found.filter((each) => each.id === id));
  const groups = groupBy(found.filter((each) => !again.includes(each)), (each) => each.group);
  return [...(again.length > 0 ? [["Used lately", again] as [string, Command[]]] : []), ...groups];
}

function usePlaces(): Command[] {
  const { repo } = useHere();
  const navigate = useNavigate();
  const branches = useBranches(repo).data ?? [];
  const projects = useProjects().data ?? [];
  return [
    ...branches.slice(0, 500).map(({ name }) => ({
      id: `open.branch.${name}`,
      title: name,
      group: "Open branch",
      run: () => repo !== undefined && void navigate(branchPlace({ repo, branch: name })),
    })),
    ...projects.map(({ id, name }) => ({ id: `open.project.${id}`, title: name, group: "Open project", run: () => void navigate(projectPlace(id)) })),
  ];
}

export function Palette({ typed: query, onTyped: setQuery, onClose }: Typing) {
  const places = usePlaces();
  const commands = useCommandList();
  const groups = listed(query, [...commands, ...(query === "" ? places.slice(0, 20) : places)], readStored(RECENT, NONE));
  const run = (command: Command) => {
    writeStored(RECENT, [command.id, ...readStored(RECENT, NONE).filter((id) => id !== command.id)].slice(0, REMEMBERED));
    onClose();
    // After the palette is gone and has given the focus back, so that a command can take it.
    setTimeout(command.run, 0);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Content aria-describedby={undefined} className="floating fixed top-[12vh] left-1/2 z-40 w-[min(600px,calc(100vw-32px))] -translate-x-1/2 animate-appear overflow-hidden">
          <Dialog.Title className="sr-only">Commands</Dialog.Title>
          <Cmdk shouldFilter={false} loop label="Commands">
            <Cmdk.Input autoFocus value={query} onValueChange={setQuery} placeholder="What do you want to do?" className="h-11 w-full border-b border-line bg-transparent px-4 text-lg outline-none" />
            <Cmdk.List className="max-h-[50vh] overflow-y-auto p-1">
              <Cmdk.Empty className="px-3 py-6 text-center text-muted">Nothing by that name.</Cmdk.Empty>
              {groups.map(([heading, items]) => (
                <Cmdk.Group key={heading} heading={heading} className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted">
                  {items.map((each) => (
                    <Cmdk.Item key={each.id} value={each.id} onSelect={() => run(each)} className="flex h-8 items-center gap-3 rounded-sm px-3 data-[selected=true]:bg-surface-2">
                      <span className="min-w-0 flex-1 truncate">{each.title}</span>
                      {heading !== each.group && <span className="text-xs text-muted">{each.group}</span>}
                      {each.keys !== undefined && <Kbd keys={each.keys} />}
                    </Cmdk.Item>
                  ))}
                </Cmdk.Group>
              ))}
            </Cmdk.List>
          </Cmdk>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
