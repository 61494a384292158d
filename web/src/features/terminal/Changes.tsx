import { useState } from "react";

import { plural } from "@/lib/format";
import { Button, Input } from "@/ui";

import type { Ended } from "./connection";

export interface ChangesProps {
  ended: Ended;
  onSave: (message: string) => void;
  onDiscard: () => void;
}

/** What a shell changed: saved as one commit, or discarded. */
export function Changes({ ended, onSave, onDiscard }: ChangesProps) {
  const [message, setMessage] = useState("");
  return (
    <form
      aria-label="Changes of the shell"
      className="flex flex-col gap-2 border-b border-line px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(message);
      }}
    >
      <p className="text-sm">{`The shell changed ${plural(ended.changed, "file")}:`}</p>
      <ul className="max-h-40 overflow-auto font-mono text-xs">
        {ended.changes.map(({ path, change }) => (
          <li key={path} className="break-all">
            <span className="text-muted">{change}</span> {path}
          </li>
        ))}
        {ended.changed > ended.changes.length && <li className="text-muted">{`and ${plural(ended.changed - ended.changes.length, "more file")}`}</li>}
      </ul>
      {ended.notes.map((note) => (
        <p key={note} className="text-xs text-attention">{note}</p>
      ))}
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-40 flex-1">
          <Input aria-label="Commit message" placeholder="What did you change?" value={message} maxLength={500} onChange={(event) => setMessage(event.target.value)} />
        </div>
        <Button onClick={onDiscard}>Discard</Button>
        <Button kind="primary" type="submit" disabled={message.trim() === ""}>
          Save as commit
        </Button>
      </div>
    </form>
  );
}
