/** What the shell has open: dialogs about branches, the palette, the side panel. */
import { createContext, use } from "react";

export type BranchDialog =
  | { kind: "new"; repo: string; start?: string; conversation?: boolean }
  | { kind: "rename"; repo: string; branch: string }
  | { kind: "delete"; repo: string; branch: string }
  | { kind: "export"; repo: string; branch: string }
  | { kind: "push"; repo: string; branch: string }
  | { kind: "merge"; repo: string; source: string; target: string };

export type Overlay = "palette" | "shortcuts" | "quick-open" | null;
export type Side = "branches" | "search";

export interface ShellState {
  dialog: BranchDialog | null;
  setDialog: (dialog: BranchDialog | null) => void;
  overlay: Overlay;
  setOverlay: (overlay: Overlay) => void;
  side: Side;
  setSide: (side: Side) => void;
  sideOpen: boolean;
  setSideOpen: (open: boolean) => void;
  /** Too narrow for a side panel beside the rest: it lies over it. */
  narrow: boolean;
}

export const ShellContext = createContext<ShellState | null>(null);

export function useShell(): ShellState {
  const state = use(ShellContext);
  if (state === null) throw new Error("Outside of the shell.");
  return state;
}
