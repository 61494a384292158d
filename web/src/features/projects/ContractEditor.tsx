import { useEffect, useMemo, useRef, useState } from "react";

import { isProblem } from "@/api";
import { Button, ErrorState, toast } from "@/ui";

import { Findings } from "./Findings";
import { ContractCode, type CodeHandle } from "./contract_editor";
import { useContractSchema, useDraftFindings, useSaveContract, type Contract } from "./contract_queries";
import { TITLES } from "./contract_text";

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
  const code = useRef<CodeHandle>(null);
  const schema = useContractSchema(project, type);
  const draft = useSettled(text);
  const findings = useDraftFindings(project, type, draft);
  const save = useSaveContract(project, type);
  const own = useMemo(() => (findings.data ?? []).filter(({ file }) => file.startsWith(`${type}.`)), [findings.data, type]);
  const isBehind = contract.etag !== etag;
  const store = () => {
    if (save.isPending || isBehind) return;
    save.mutate(
      { content: text, etag },
      {
        onSuccess: (saved) => {
          toast({ text: `Saved version ${saved.version}` });
          onDone();
        },
      },
    );
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <Findings findings={own} onLine={(line) => code.current?.goTo(line)} />
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
      <div className="min-h-0 flex-1">
        <ContractCode
          type={type}
          label={`Text of ${TITLES[type].toLowerCase()}`}
          text={text}
          findings={own}
          schema={schema.data ?? null}
          onText={setText}
          onSave={store}
          onReady={(handle) => (code.current = handle)}
        />
      </div>
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
