import { FileX } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";

import { ApiProblem, fileAddress, readFile, topicOf, useFile, useTopic, type FileContent } from "@/api";
import { byteSize, shortId } from "@/lib/format";
import { patiently } from "@/lib/patiently";
import { EmptyState, ErrorState, Skeleton } from "@/ui";

import type { OpenFile } from "./editor/open_file";
import { knownFile, openFile } from "./editor/open_files";
import { nameOf } from "./explorer/tree";
import { openHistory, useHistoryOpen } from "./history_open";
import { PastBar } from "./view/Bars";
import { EditorPane } from "./view/EditorPane";
import { FileHeader, type Mode } from "./view/FileHeader";
import { HistoryPane } from "./view/HistoryPane";
import { BinaryNotice, isMarkdown, Picture, pictureType } from "./view/Previews";
import { MarkdownPreview } from "./view/TextPreview";

const ReadOnlyCode = lazy(() => patiently(() => import("./editor/ReadOnlyCode")));
/** More is to read only: every change of such a text would be felt. */
const MOST_EDITED = 2_000_000;

export interface FileViewProps {
  repo: string;
  branch: string;
  path: string;
  at?: string | undefined;
  line?: number | undefined;
}

/** A file of the branch to edit, or of an earlier commit to read. */
export function FileView(props: FileViewProps) {
  return <OneFile key={`${props.at === undefined ? "now" : "past"} ${props.path}`} {...props} />;
}

/** The open file goes along with what the branch has. */
function useOpenFile({ repo, branch, path, at }: FileViewProps, found: FileContent | undefined, gone: boolean): OpenFile | undefined {
  const place = { repo, branch, path };
  const text = found?.text ?? null;
  const editable = at === undefined && found !== undefined && text !== null && found.bytes.length <= MOST_EDITED;
  const etag = found?.etag ?? "";
  const commit = found?.commit;
  const file = editable ? openFile(place, { text, etag, commit }) : gone && at === undefined ? knownFile(place) : undefined;
  useEffect(() => {
    if (gone) file?.take({ text: "", etag: "" });
    else if (editable) file?.take({ text, etag, commit });
  }, [file, gone, editable, text, etag, commit]);
  useEffect(() => {
    if (file?.since === undefined || file.snapshot().unseen !== null) return;
    readFile({ ...file.place, at: file.since }, file.place.path).then(
      (known) => file.recall(known.text),
      () => file.recall(null), // the commit is gone, and so is what could be marked
    );
  }, [file]);
  return file;
}

function OneFile(props: FileViewProps) {
  const { repo, branch, path, at, line } = props;
  const place = { repo, branch, at };
  const found = useFile(place, path, { steady: at !== undefined });
  const historyOpen = useHistoryOpen() === path;
  const setHistory = (open: boolean) => openHistory(open ? path : null);
  useTopic(at === undefined ? topicOf.branch(repo, branch) : null, () => undefined);

  const gone = found.error instanceof ApiProblem && found.error.status === 404;
  const file = useOpenFile(props, gone ? undefined : found.data, gone);
  const [mode, setMode] = useState<Mode>("preview");
  const address = fileAddress(repo, path, place);
  const header = (
    <FileHeader path={path} history={historyOpen} onHistory={() => setHistory(!historyOpen)} address={address} {...(at !== undefined && isMarkdown(path) && { mode: mode === "split" ? "preview" : mode, onMode: setMode })} />
  );
  const framed = (inside: React.ReactNode) => (
    <div className="flex h-full min-h-0 flex-col">
      {header}
      {at !== undefined && <PastBar commit={shortId(at)} />}
      <div className="min-h-0 flex-1">{historyOpen ? <HistoryPane repo={repo} branch={branch} at={at} path={path} onClose={() => setHistory(false)} /> : inside}</div>
    </div>
  );

  if (gone && file?.snapshot().dirty !== true) {
    return framed(
      <EmptyState icon={FileX} title="Not on this branch">
        {nameOf(path)} is not {at === undefined ? "on the branch any more" : "in this commit"}. Its history shows what was in it.
      </EmptyState>,
    );
  }
  if (found.error !== null && !gone) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (file !== undefined) {
    const preview = isMarkdown(path) ? "markdown" : pictureType(path) === undefined ? null : "drawing";
    return <EditorPane file={file} line={line} preview={preview} history={historyOpen} onHistory={setHistory} />;
  }
  if (found.data === undefined) return <Skeleton lines={8} />;
  const { text, bytes } = found.data;
  if (pictureType(path) !== undefined && (text === null || at !== undefined)) return framed(<Picture path={path} bytes={bytes} />);
  if (text === null) return framed(<BinaryNotice name={nameOf(path)} size={bytes.length} address={address} />);
  if (isMarkdown(path) && at !== undefined && mode !== "edit") return framed(<MarkdownPreview repo={repo} branch={branch} at={at} path={path} text={text} />);
  const large = bytes.length > MOST_EDITED;
  return framed(
    <div className="flex h-full min-h-0 flex-col">
      {large && <p role="status" className="border-b border-line bg-surface-1 px-3 py-1.5 text-xs">{`This file has ${byteSize(bytes.length)}. Files over ${byteSize(MOST_EDITED)} are shown without colours and are read-only here; edit them in a checkout.`}</p>}
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Skeleton lines={8} />}>
          <ReadOnlyCode path={path} text={text} line={line} plain={large} />
        </Suspense>
      </div>
    </div>,
  );
}
