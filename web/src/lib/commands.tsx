/** Every action of the interface is a command: the palette lists them, the keyboard runs them, `?` shows their keys. */
import { createContext, use, useEffect, useRef, useSyncExternalStore } from "react";

export interface Command {
  /** Stable, like "branch.new". */
  id: string;
  /** What happens, in sentence case: "New branch". */
  title: string;
  /** The heading that it is listed under: "Branch". */
  group: string;
  /** Like "mod+k", "?", or "g b". */
  keys?: string | undefined;
  run: () => void;
  /** False hides it; true unless said otherwise. */
  enabled?: boolean | undefined;
  /** More words to find it by. */
  words?: string | undefined;
}

export class Commands {
  private readonly known = new Map<string, Command[]>();
  private readonly listeners = new Set<() => void>();
  private shown: readonly Command[] = [];

  /** The one registered last for an id is in force, until it goes. Returns the way to take it back. */
  add(command: Command): () => void {
    this.known.set(command.id, [...(this.known.get(command.id) ?? []), command]);
    this.tell();
    return () => {
      const left = (this.known.get(command.id) ?? []).filter((each) => each !== command);
      if (left.length > 0) this.known.set(command.id, left);
      else this.known.delete(command.id);
      this.tell();
    };
  }

  readonly list = (): readonly Command[] => this.shown;

  run(id: string): boolean {
    const command = this.shown.find((each) => each.id === id);
    command?.run();
    return command !== undefined;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private tell(): void {
    this.shown = [...this.known.values()].flatMap((each) => each.slice(-1)).filter((each) => each.enabled !== false);
    this.listeners.forEach((listener) => listener());
  }
}

export const CommandsContext = createContext(new Commands());

export function useCommands(): Commands {
  return use(CommandsContext);
}

export function useCommandList(): readonly Command[] {
  const commands = useCommands();
  return useSyncExternalStore(commands.subscribe, commands.list);
}

/** Registers a command while the component is there. `run` may be a new function each time. */
export function useCommand(command: Command): void {
  const commands = useCommands();
  const latest = useRef(command.run);
  useEffect(() => {
    latest.current = command.run;
  });
  const { id, title, group, keys, enabled, words } = command;
  useEffect(
    () => commands.add({ id, title, group, keys, enabled, words, run: () => latest.current() }),
    [commands, id, title, group, keys, enabled, words],
  );
}
