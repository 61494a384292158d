import { useNavigate } from "@tanstack/react-router";

import { useRepositories, useUndo } from "@/api";
import { useCommand } from "@/lib/commands";
import { repositoryPlace, settingsPlace } from "@/lib/places";
import { toast, useTheme } from "@/ui";

import { useHere } from "./here";
import { useShell, type Side } from "./shell_state";

/** The shell's own actions; features add theirs. */
export function ShellCommands() {
  useGoing();
  useLooks();
  useBranchActions();
  return null;
}

function useGoing() {
  const navigate = useNavigate();
  const { repo } = useHere();
  const first = useRepositories().data?.[0]?.id;
  const graph = repo ?? first;
  useCommand({ id: "go.home", title: "Go home", group: "Go to", keys: "g h", run: () => void navigate({ to: "/" }) });
  useCommand({ id: "go.graph", title: "Go to the commit graph", group: "Go to", keys: "g r", enabled: graph !== undefined, words: "repository history", run: () => graph !== undefined && void navigate(repositoryPlace(graph)) });
  useCommand({ id: "go.projects", title: "Go to projects", group: "Go to", keys: "g p", run: () => void navigate({ to: "/projects" }) });
  useCommand({ id: "go.board", title: "Go to the board", group: "Go to", keys: "g b", run: () => void navigate({ to: "/board" }) });
  useCommand({ id: "go.settings", title: "Go to settings", group: "Go to", keys: "mod+,", run: () => void navigate(settingsPlace("models")) });
  useCommand({ id: "project.new", title: "New project", group: "Project", run: () => void navigate({ to: "/projects/new" }) });
}

function useLooks() {
  const shell = useShell();
  const { repo, branch } = useHere();
  const [, setTheme] = useTheme();
  const show = (side: Side) => {
    shell.setSide(side);
    shell.setSideOpen(true);
  };
  const search = () => {
    show("search");
    // Where it is there already, it is gone back to.
    const field = document.querySelector<HTMLInputElement>("form[role=search] input");
    field?.focus();
    field?.select();
  };
  useCommand({ id: "palette.open", title: "Show all commands", group: "View", keys: "mod+k", run: () => shell.setOverlay("palette") });
  useCommand({ id: "shortcuts.open", title: "Show keyboard shortcuts", group: "View", keys: "?", run: () => shell.setOverlay("shortcuts") });
  useCommand({ id: "search.quick-open", title: "Open a file by name", group: "Go to", keys: "mod+p", enabled: repo !== undefined && branch !== undefined, run: () => shell.setOverlay("quick-open") });
  useCommand({ id: "search.everywhere", title: "Search in files", group: "Go to", keys: "mod+shift+f", run: search });
  useCommand({ id: "side.toggle", title: shell.sideOpen ? "Hide the side panel" : "Show the side panel", group: "View", keys: "mod+b", run: () => (shell.sideOpen ? shell.setSideOpen(false) : show("branches")) });
  useCommand({ id: "theme.light", title: "Light appearance", group: "View", words: "theme", run: () => setTheme("light") });
  useCommand({ id: "theme.dark", title: "Dark appearance", group: "View", words: "theme", run: () => setTheme("dark") });
  useCommand({ id: "theme.system", title: "Appearance as the system", group: "View", words: "theme", run: () => setTheme("system") });
}

function useBranchActions() {
  const { setDialog } = useShell();
  const { repo = "", branch } = useHere();
  const main = useRepositories().data?.find((each) => each.id === repo)?.default_branch ?? null;
  const undo = useUndo(repo);
  const inRepo = repo !== "";
  const own = inRepo && branch !== undefined && branch !== main;
  const undone = () =>
    undo.mutate(undefined, {
      onSuccess: (operation) => toast({ text: `Undone: ${operation.reason}`, meaning: "good" }),
      onError: (error) => toast({ text: error.message, meaning: "bad" }),
    });
  useCommand({ id: "branch.new", title: "New branch", group: "Branch", keys: "n", enabled: inRepo, run: () => setDialog({ kind: "new", repo, ...(branch !== undefined && { start: branch }) }) });
  useCommand({ id: "branch.fork", title: "Fork this branch with its conversation", group: "Branch", enabled: own, run: () => branch !== undefined && setDialog({ kind: "new", repo, start: branch, conversation: true }) });
  useCommand({ id: "branch.rename", title: "Rename this branch", group: "Branch", enabled: own, run: () => branch !== undefined && setDialog({ kind: "rename", repo, branch }) });
  useCommand({ id: "branch.delete", title: "Delete this branch", group: "Branch", enabled: own, run: () => branch !== undefined && setDialog({ kind: "delete", repo, branch }) });
  useCommand({ id: "branch.merge", title: `Merge this branch into ${main ?? "the default branch"}`, group: "Branch", enabled: own && main !== null, run: () => branch !== undefined && main !== null && setDialog({ kind: "merge", repo, source: branch, target: main }) });
  useCommand({ id: "operation.undo", title: "Undo the last operation", group: "Branch", enabled: inRepo, words: "revert", run: undone });
}
