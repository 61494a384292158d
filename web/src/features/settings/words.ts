/** What settings, values and origins are called on screen. */
import { ApiProblem } from "@/api";

/** Where the name of a setting alone does not say it. */
const LABELS: Record<string, string> = {
  "models.default": "Every role",
  "limits.turn_usd": "Spending in one turn",
  "limits.session_usd": "Spending in one conversation",
  "limits.day_usd": "Spending in one day",
  "limits.requests_per_turn": "Requests in one turn",
  "limits.output_tokens": "Tokens of one answer",
  "network.connect_seconds": "Until the call is taken",
  "network.idle_seconds": "Silence within an answer",
  "network.retry_seconds": "Asking again when overloaded",
  "context.exclude": "Files left out",
  "context.overview_tokens": "Tokens for the list of files",
  "context.file_tokens": "Tokens of one file",
  "context.compact_at": "Condense the conversation at",
  "polish.critical_max": "Critical findings left",
  "polish.medium_max": "Medium findings left",
  "polish.minor_max": "Minor findings left",
  "polish.max_iterations": "Rounds",
  "polish.stagnation_limit": "Plateau after",
  "polish.retry_malformed_output": "Unreadable reviews asked again",
  "polish.hallucination_rise": "Rise that halts",
  "polish.hallucination_falling": "Falling rounds before",
  "polish.fabrication_rise": "Rise of one severity that halts",
  "polish.fabrication_least": "Findings more, at least",
  "polish.fabrication_window": "Rounds of the average",
  "polish.near_factor": "Near the end within",
  "polish.rotation_share": "Share known on a plateau",
  "polish.similarity": "Alike from",
  "concurrency.max_parallel_runs": "Projects at once",
  "brain_dump.min_word_count": "Words of a brain dump",
  "resource.max_file_size_mb": "Largest file",
  "phase3_completeness.plan_min_chars": "Characters of a plan",
  "phase3_completeness.code_require_tests": "Code needs tests",
  "agents.default": "Agent for projects",
  "agents.call_timeout_seconds": "Longest call",
  "notifications.default_channel": "Channel that is used",
  sessions: "Conversations are kept",
  database: "Database",
  data_dir: "Data directory",
  workspace: "Workspace",
  "plugins.directory": "Directory of plugins",
  "prompts.directory": "Directory of prompts",
  "server.host": "Address",
  "server.port": "Port",
  "records.keep_days": "Days to keep them",
};

const UNITS: [RegExp, string][] = [
  [/_usd$/, "US dollars"],
  [/_seconds$/, "seconds"],
  [/_mb$/, "MB"],
  [/tokens$/, "tokens"],
];

const NAMES: Record<string, string> = {
  anthropic: "Anthropic",
  openai: "OpenAI",
  openrouter: "OpenRouter",
  google: "Google",
  ollama: "Ollama",
  builtin: "Built-in engine",
  "openai-compatible": "OpenAI-compatible server",
  notion: "Notion",
  google_drive: "Google Drive",
  telegram: "Telegram",
  vibekanban: "Vibe Kanban",
  npm: "npm",
  url: "URL",
};

export function nameOf(id: string): string {
  return NAMES[id] ?? id;
}

export function labelOf(name: string): string {
  const last = name.split(".").at(-1) ?? name;
  const words = NAMES[last] ?? last.replace(/_(usd|seconds|mb)$/, "").replaceAll("_", " ");
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

export function unitOf(name: string): string | undefined {
  return UNITS.find(([end]) => end.test(name))?.[1];
}

export function sentence(words: string): string {
  const trimmed = words.replace(/^… /, "").replace(/ …$/, "").trim();
  if (trimmed === "") return "";
  const text = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.?…]$/.test(text) ? text : `${text}.`;
}

/** The description of a setting beside its label; nothing where the label says it all. */
export function aboutOf(about: string, label: string): string {
  return label.toLowerCase().endsWith(about.toLowerCase()) ? "" : sentence(about.replace(/\bnull\b/g, "empty"));
}

/** What an empty field means. */
export function nothingOf(name: string): string {
  if (name === "database") return "a SQLite file";
  return name.startsWith("limits.") && name !== "limits.output_tokens" ? "no limit" : "by the model";
}

export interface Origin {
  word: string;
  /** All of it, for a hover. */
  title: string;
  /** Whether a change of the file would be without effect. */
  decided: boolean;
}

/** `default`, `variable NAME`, or a file. */
export function originOf(origin: string): Origin {
  if (origin === "default") return { word: "default", title: "The value that Forge brings", decided: false };
  if (origin.startsWith("variable ")) {
    return { word: origin, title: `The variable ${origin.slice(9)} of the server decides`, decided: true };
  }
  return { word: `from ${origin.split(/[\\/]/).at(-1) ?? origin}`, title: origin, decided: false };
}

/** What went wrong and what to do about it, in one line; without the name of the file and the setting, which stand beside it. */
export function told(error: unknown, name?: string): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error);
  const mark = name === undefined ? -1 : error.detail.indexOf(`\`${name}\`: `);
  const detail = mark < 0 || name === undefined ? error.detail : error.detail.slice(mark + name.length + 4);
  return [detail, error.hint].filter((text) => text !== "").join(" ");
}

/** Dollars for a million tokens. */
export function priceOf(input: number | null, output: number | null): string | null {
  if (input === null || output === null) return null;
  const shown = (dollars: number) => `$${dollars.toFixed(2).replace(/\.00$/, "")}`;
  return `${shown(input)} in, ${shown(output)} out for a million tokens`;
}
