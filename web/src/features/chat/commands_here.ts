/** What can be written after a slash. */
import { ranked } from "@/lib/fuzzy";

export interface SlashCommand {
  name: string;
  about: string;
  run: () => void;
  enabled?: boolean;
}

export function matching(commands: readonly SlashCommand[], query: string): SlashCommand[] {
  const usable = commands.filter((command) => command.enabled !== false);
  return ranked(query, usable, (command) => command.name, 8).map((each) => each.item);
}
