import { useEffect, useRef, useState } from "react";

import { isProblem } from "@/api";
import { Button, ErrorState, toast } from "@/ui";

import { Findings } from "./Findings";
import { useDraftFindings, useSaveContract, type Contract } from "./contract_queries";
import { lineRange, TITLES } from "./contract_text";

const PAUSE = 400;

export interface ContractEditorProps {
  project: string;
  /** As it is now; the edit keeps the text that it began with. */
  contract: Contract;
  onDone: () => void;
}

/** A text with its findings. What somebody else saved meanwhile is shown beside it, never overwritten. */
export function ContractEditor({ project, contract, onDone }: ContractEditorProps) {
  const type = contract.contract_type;
  const [text, setText] = useState(contract.content);
  const [etag, setEtag] = useState(contract.etag);
  const area = useRef<HTMLTextAreaElement>(null);
  const draft = useSettled(text);
  const findings = useDraftFindings(project, type, draft);
  const save = useSaveContract(project, type);
  const own = (findings.data ?? []).filter(({ file }) => file.startsWith(`${type}.`));
  const isBehind = contract.etag !== etag;
  const store = () =>
    save.mutate(
      { content: text, etag },
      {
        onSuccess: (saved) => {
          toast({ text: `Saved version ${saved.version}` });
          onDone();
        },
      },
    );
  const toLine = (line: number) => {
    const [start, end] = lineRange(text, line);
    area.current?.focus();
    area.current?.setSelectionRange(start, end);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <Findings findings={own} onLine={toLine} />
      {save.isError && !isProblem(save.error, "contract_changed") && <ErrorState error={save.error} />}
      {isBehind && (
        <div role="alert" className="flex flex-col gap-2 border-b border-line px-3 py-2 text-xs">
          <p>Somebody saved version {contract.version} meanwhile. Put your changes into it, or save your text as the next version.</p>
          <pre aria-label="The newer text" className="max-h-40 overflow-auto rounded-md border border-line p-2 font-mono whitespace-pre-wrap">{contract.content}</pre>
          <div>
            <Button small onClick={() => setEtag(contract.etag)}>
              I have looked at it
            </Button>
          </div>
        </div>
      )}
      <textarea
        ref={area}
        aria-label={`Text of ${TITLES[type].toLowerCase()}`}
        value={text}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            store();
          }
        }}
        className="focus-inset min-h-0 flex-1 resize-none bg-surface-0 px-4 py-3 font-mono text-xs leading-5"
      />
      <div className="flex shrink-0 items-center justify-end gap-2 border-t border-line px-3 py-2">
        <Button small kind="quiet" onClick={onDone}>
          Discard
        </Button>
        <Button small kind="primary" disabled={save.isPending || isBehind} onClick={store}>
          Save
        </Button>
      </div>
    </div>
  );
}

/** The value after it held still for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
