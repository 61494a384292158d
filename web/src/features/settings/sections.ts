/** The sections of the settings, and which settings each holds. */
import { Activity, Bell, Bot, Brain, Gauge, Info, KeyRound, MessageSquareText, Palette, Plug, SlidersHorizontal, type LucideIcon } from "lucide-react";

export interface Section {
  id: string;
  title: string;
  about: string;
  icon: LucideIcon;
  /** Names of settings at the top of the file: those below them are shown here. */
  holds: readonly string[];
  /** More words to find it by. */
  words: string;
}

export const ALL: readonly Section[] = [
  { id: "models", title: "Models and keys", about: "Who answers, what it costs, and the keys for it.", icon: KeyRound, holds: ["models", "providers"], words: "provider api key price default model keyring" },
  { id: "agents", title: "Agents", about: "Programs on this machine that can do the work of a turn.", icon: Bot, holds: ["agents"], words: "claude codex gemini opencode install program" },
  { id: "prompts", title: "Prompts", about: "The words that agents are given. Yours are used from the next call on.", icon: MessageSquareText, holds: [], words: "edit diff reset default" },
  { id: "notifications", title: "Notifications", about: "How Forge notifies you when you are away.", icon: Bell, holds: ["notifications"], words: "ntfy telegram test channel" },
  { id: "connectors", title: "Connectors", about: "Where documents can be pulled from.", icon: Plug, holds: ["connectors"], words: "notion google drive" },
  { id: "limits", title: "Limits", about: "Where agents stop, when polishing ends, and how many runs may work in parallel.", icon: Gauge, holds: ["limits", "concurrency", "polish", "network", "context", "brain_dump", "resource", "phase3_completeness"], words: "spending rounds parallel builds budget" },
  { id: "appearance", title: "Appearance", about: "How Forge looks in this browser.", icon: Palette, holds: [], words: "theme light dark motion" },
  { id: "access", title: "Access", about: "People who share this server, their keys, and what was done.", icon: Activity, holds: [], words: "users team keys scopes audit sign out" },
  { id: "memory", title: "Memory", about: "What is remembered of a project's work.", icon: Brain, holds: [], words: "layers initiative learnings" },
  { id: "advanced", title: "Advanced", about: "Where things are kept, where the server listens, plugins and boards.", icon: SlidersHorizontal, holds: ["workspace", "data_dir", "database", "sessions", "server", "records", "plugins", "prompts", "boards", "registries"], words: "retention cleaning old events runs" },
  { id: "about", title: "About", about: "This installation.", icon: Info, holds: [], words: "version data directory doctor" },
];

const SUBTITLES: Record<string, string> = {
  models: "Who answers, by role",
  providers: "Where models live",
  agents: "Which agent",
  limits: "Spending",
  network: "Waiting for providers",
  context: "What agents see",
  polish: "Polishing",
  concurrency: "At a time",
  brain_dump: "Brain dump",
  resource: "Files added to a project",
  phase3_completeness: "What a build must deliver",
  notifications: "Channels",
  connectors: "Connectors",
  workspace: "Workspace",
  data_dir: "Data",
  database: "Database",
  sessions: "Conversations",
  server: "Web interface",
  records: "Old records",
  plugins: "Plugins",
  prompts: "Prompts",
  boards: "Boards of other programs",
  registries: "Registries of packages",
};

export function subtitleOf(group: string): string {
  return SUBTITLES[group] ?? group;
}

export function sectionOf(name: string): Section | undefined {
  const top = name.split(".")[0] ?? name;
  return ALL.find((section) => section.holds.includes(top));
}
