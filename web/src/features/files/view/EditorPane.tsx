import type { EditorView } from "@codemirror/view";
import { lazy, Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";

import { fileAddress, useBranch } from "@/api";
import { useCommand } from "@/lib/commands";
import { useStored } from "@/lib/stored";
import { patiently } from "@/lib/patiently";
import { Panel, PanelEdge, Panels, Skeleton } from "@/ui";

import type { OpenFile } from "../editor/open_file";
import { pinTab } from "../tabs";
import { useBranchState } from "../useBranchState";
import { BusyBar, PartedBar, UnseenBar } from "./Bars";
import { ConflictDialog } from "./ConflictDialog";
import { FileHeader, type Mode } from "./FileHeader";
import { HistoryPane } from "./HistoryPane";
import { DrawingPreview, MarkdownPreview, useLiveText } from "./TextPreview";
import { useSave } from "./useSave";

const CodeEditor = lazy(() => patiently(() => import("../editor/CodeEditor")));

export interface EditorPaneProps {
  file: OpenFile;
  line?: number | undefined;
  /** What can be shown beside the text. */
  preview: "markdown" | "drawing" | null;
  history: boolean;
  onHistory: (shown: boolean) => void;
}

function Preview({ file, kind }: { file: OpenFile; kind: "markdown" | "drawing" }) {
  const text = useLiveText(file);
  const { repo, branch, path } = file.place;
  return kind === "markdown" ? <MarkdownPreview repo={repo} branch={branch} path={path} text={text} /> : <DrawingPreview path={path} text={text} />;
}

/** A text file that can be edited: the editor, what is beside it, and what has to be said about it. */
export function EditorPane({ file, line, preview, history, onHistory }: EditorPaneProps) {
  const { repo, branch, path } = file.place;
  const { dirty, theirs, unseen } = useSyncExternalStore(file.subscribe, file.snapshot);
  const { busy } = useBranchState(repo, branch, undefined);
  const by = useBranch(repo, branch).data?.author;
  const [view, setView] = useState<EditorView | null>(null);
  const [deciding, setDeciding] = useState(false);
  const [modes, setModes] = useStored<Record<string, Mode>>("file-modes", NO_MODES);
  const [wrap, setWrap] = useStored("editor-wrap", false);
  const [tabIndents, setTabIndents] = useStored("editor-tab-indents", true);
  const saving = useSave(file, () => setDeciding(true));
  const mode: Mode = preview === null ? "edit" : (modes[preview] ?? (preview === "drawing" ? "preview" : "edit"));

  useEffect(() => {
    if (dirty) pinTab(repo, branch, path);
  }, [dirty, repo, branch, path]);
  const onView = useCallback((next: EditorView | null) => setView(next), []);

  const save = () => void saving.save();
  const locked = busy !== null;
  const goToLine = async () => {
    const { gotoLine } = await import("@codemirror/search");
    if (view !== null) gotoLine(view);
  };
  const nextChange = async () => {
    const { changedPlaces } = await import("../editor/seen_gutter");
    if (view === null) return;
    const places = changedPlaces(view);
    const { head } = view.state.selection.main;
    const next = places.find((place) => place > head) ?? places[0];
    if (next === undefined) return;
    view.dispatch({ selection: { anchor: next }, scrollIntoView: true });
    view.focus();
  };
  const setMode = (next: Mode) => preview !== null && setModes((before) => ({ ...before, [preview]: next }));
  useCommand({ id: "file.save", title: "Save the file", group: "Files", keys: "mod+s", run: () => file.snapshot().dirty && !locked && save() });
  useCommand({ id: "file.discard", title: "Discard unsaved changes", group: "Files", run: () => file.discard(), enabled: dirty });
  useCommand({ id: "file.goto-line", title: "Go to line", group: "Files", keys: "mod+g", run: () => void goToLine(), enabled: view !== null });
  useCommand({ id: "file.wrap", title: wrap ? "Do not wrap long lines" : "Wrap long lines", group: "Files", keys: "alt+z", run: () => setWrap(!wrap) });
  useCommand({ id: "file.tab-indents", title: tabIndents ? "Tab key moves the focus" : "Tab key indents", group: "Files", run: () => setTabIndents(!tabIndents) });
  useCommand({ id: "file.preview", title: mode === "edit" ? "Show the preview" : "Hide the preview", group: "Files", keys: "mod+shift+v", run: () => setMode(mode === "edit" ? "split" : "edit"), enabled: preview !== null });
  useCommand({ id: "file.next-change", title: "Next change of the agent", group: "Files", keys: "alt+f5", run: () => void nextChange(), enabled: unseen !== null });
  useCommand({ id: "file.history", title: history ? "Close the history" : "History and differences of the file", group: "Files", run: () => onHistory(!history) });

  const text = (
    <Suspense fallback={<Skeleton lines={8} />}>
      <CodeEditor file={file} readOnly={locked} wrap={wrap} tabIndents={tabIndents} line={line} onView={onView} />
    </Suspense>
  );
  return (
    <div className="flex h-full min-h-0 flex-col">
      <FileHeader
        path={path}
        mode={preview === null || history ? undefined : mode}
        onMode={setMode}
        history={history}
        onHistory={() => onHistory(!history)}
        address={fileAddress(repo, path, { branch })}
        wrap={wrap}
        onWrap={() => setWrap(!wrap)}
        tabIndents={tabIndents}
        onTabIndents={() => setTabIndents(!tabIndents)}
        onGoToLine={view === null ? undefined : () => void goToLine()}
        onSave={dirty && !locked ? save : undefined}
        saving={saving.busy}
      />
      {busy !== null && <BusyBar repo={repo} branch={branch} who={busy.who} unsaved={dirty} />}
      {theirs !== null && <PartedBar gone={theirs.etag === ""} onCompare={() => setDeciding(true)} />}
      {unseen !== null && <UnseenBar by={by} onNext={() => void nextChange()} onSeen={() => file.seen()} />}
      <div className="min-h-0 flex-1">
        {history ? (
          <HistoryPane repo={repo} branch={branch} path={path} onClose={() => onHistory(false)} />
        ) : preview === null || mode === "edit" ? (
          text
        ) : mode === "preview" ? (
          <Preview file={file} kind={preview} />
        ) : (
          <Panels id="file-preview">
            <Panel id="text" size="50" min="20">
              {text}
            </Panel>
            <PanelEdge />
            <Panel id="preview" size="50" min="20">
              <Preview file={file} kind={preview} />
            </Panel>
          </Panels>
        )}
      </div>
      {deciding && theirs !== null && (
        <ConflictDialog
          file={file}
          theirs={theirs}
          onClose={() => setDeciding(false)}
          onKeepMine={() => {
            setDeciding(false);
            file.keepMine();
            save();
          }}
          onTakeTheirs={() => {
            setDeciding(false);
            file.takeTheirs();
          }}
        />
      )}
    </div>
  );
}

const NO_MODES: Record<string, Mode> = {};
