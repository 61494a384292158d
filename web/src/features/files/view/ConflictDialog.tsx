import { lazy, Suspense, useState } from "react";

import { patiently } from "@/lib/patiently";
import { Button, Dialog, Skeleton } from "@/ui";

import type { OpenFile, Version } from "../editor/open_file";

const CodeDiff = lazy(() => patiently(() => import("../diff/CodeDiff")));

export interface ConflictDialogProps {
  file: OpenFile;
  theirs: Version;
  onClose: () => void;
  /** Saves over theirs, which has been shown. */
  onKeepMine: () => void;
  onTakeTheirs: () => void;
}

/** Somebody changed the file on the branch meanwhile: both are shown before one of them goes. */
export function ConflictDialog({ file, theirs, onClose, onKeepMine, onTakeTheirs }: ConflictDialogProps) {
  const [mine] = useState(() => file.text());
  const [layout, setLayout] = useState<"split" | "unified">("split");
  const { branch, path } = file.place;
  const gone = theirs.etag === "";
  return (
    <Dialog
      open
      size="large"
      onClose={onClose}
      title={gone ? `${path} was deleted on ${branch}` : `${path} changed on ${branch}`}
      about="You have unsaved changes. Nothing is overwritten until you decide; both texts are below."
      actions={
        <>
          <Button onClick={() => setLayout(layout === "split" ? "unified" : "split")}>{layout === "split" ? "Compare in one column" : "Compare side by side"}</Button>
          <span className="flex-1" />
          <Button onClick={onClose}>Decide later</Button>
          <Button onClick={onTakeTheirs}>{gone ? "Accept the deletion" : "Take theirs"}</Button>
          <Button kind="primary" onClick={onKeepMine}>
            Keep mine and save
          </Button>
        </>
      }
    >
      {layout === "split" && (
        <div aria-hidden className="mb-1 grid grid-cols-2 text-xs font-medium text-muted">
          <span>On {branch} now (theirs)</span>
          <span className="pl-2">Yours, not saved</span>
        </div>
      )}
      <div className="h-[46vh] overflow-hidden rounded-md border border-line">
        <Suspense fallback={<Skeleton />}>
          <CodeDiff path={path} before={theirs.text} after={mine} layout={layout} labels={["theirs", "yours"]} />
        </Suspense>
      </div>
    </Dialog>
  );
}
