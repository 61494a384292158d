/** Tools in a word and an icon, and their edits as lines of a difference. */
import {
  Braces, FilePen, FilePlus2, FileSearch, FileText, FolderTree, Layers, MessageCircleQuestion, PenLine, Search, SquareTerminal, TestTubeDiagonal, Trash2, Undo2, Wrench,
  type LucideIcon,
} from "lucide-react";

import type { Shapes } from "@/api";

const WORDS: Record<string, { verb: string; icon: LucideIcon }> = {
  read_file: { verb: "Read", icon: FileText },
  list_files: { verb: "List", icon: FolderTree },
  search: { verb: "Search", icon: Search },
  get_lines: { verb: "Look at", icon: FileText },
  write_file: { verb: "Write", icon: FilePlus2 },
  search_replace: { verb: "Edit", icon: FilePen },
  delete_file: { verb: "Delete", icon: Trash2 },
  rename_file: { verb: "Rename", icon: PenLine },
  update_context: { verb: "Change context", icon: Layers },
  grep_open: { verb: "Find and open", icon: FileSearch },
  check_syntax: { verb: "Check", icon: Braces },
  undo_edit: { verb: "Take back edit of", icon: Undo2 },
  run_command: { verb: "Run", icon: SquareTerminal },
  run_tests: { verb: "Test", icon: TestTubeDiagonal },
  ask_user: { verb: "Ask", icon: MessageCircleQuestion },
  need_decision: { verb: "Needs a decision:", icon: MessageCircleQuestion },
  use_skill: { verb: "Use skill", icon: Wrench },
  use_tool: { verb: "Use tool", icon: Wrench },
};

export function toolWords(name: string): { verb: string; icon: LucideIcon } {
  const plain = name.replaceAll("_", " ");
  return WORDS[name] ?? { verb: plain.charAt(0).toUpperCase() + plain.slice(1), icon: Wrench };
}

/** "0.4 s", "12 s", "2:05". */
export function seconds(took: number): string {
  if (took < 9.95) return `${took.toFixed(1)} s`;
  if (took < 60) return `${Math.round(took)} s`;
  return `${Math.floor(took / 60)}:${String(Math.floor(took % 60)).padStart(2, "0")}`;
}

type Line = Shapes["PatchLineShape"];

function lines(sign: "+" | "-", text: string): Line[] {
  const all = text.replace(/\n$/, "").split("\n");
  return all.map((line, i) => ({
    sign,
    text: line,
    old_number: sign === "-" ? i + 1 : null,
    new_number: sign === "+" ? i + 1 : null,
  }));
}

/** What an edit took away and put there, as far as its arguments tell. Null for what is no edit. */
export function editLines(name: string, given: Record<string, unknown>): Line[] | null {
  const text = (key: string) => (typeof given[key] === "string" ? given[key] : null);
  const [content, search, replace] = [text("content"), text("search"), text("replace")];
  if (name === "write_file" && content !== null) return lines("+", content);
  if (name === "search_replace" && search !== null && replace !== null) {
    return [...lines("-", search), ...(replace === "" ? [] : lines("+", replace))];
  }
  return null;
}
