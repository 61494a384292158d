import { SquareTerminal } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { Button, EmptyState, toast } from "@/ui";

import { Changes } from "./Changes";
import { Connection, type Ended } from "./connection";
import { shownIn } from "./screen";

export interface TerminalPanelProps {
  repo: string;
  branch: string;
}

type State = { is: "closed" } | { is: "open" } | { is: "ended"; ended: Ended };

/** A shell in the sandbox on the files of the branch; what it changed is offered as a commit when it ends. */
export function TerminalPanel({ repo, branch }: TerminalPanelProps) {
  const [state, setState] = useState<State>({ is: "closed" });
  const connection = useRef<Connection>(null);
  const place = useRef<HTMLDivElement>(null);
  const on = state.is !== "closed";
  useEffect(() => {
    if (!on || place.current === null) return;
    const screen = shownIn(place.current);
    const made = new Connection(repo, branch, {
      onOutput: (data) => screen.show(data),
      onTold: (told) => {
        if (told.problem !== undefined) toast({ text: told.problem.detail ?? told.problem.title ?? "The terminal failed", meaning: "bad" });
        if (told.ended !== undefined) setState(told.ended.changed > 0 ? { is: "ended", ended: told.ended } : { is: "closed" });
        if (told.saved !== undefined) toast({ text: `Saved → ${told.saved.slice(0, 7)}`, meaning: "good" });
        if (told.saved !== undefined || told.discarded === true) setState({ is: "closed" });
      },
      onClosed: () => setState({ is: "closed" }),
    });
    connection.current = made;
    screen.listen((keys) => made.type(keys), (rows, columns) => made.resize(rows, columns));
    return () => {
      connection.current = null;
      made.close();
      screen.close();
    };
  }, [on, repo, branch]);
  if (!on) {
    return (
      <EmptyState icon={SquareTerminal} title="Terminal" action={<Button kind="primary" onClick={() => setState({ is: "open" })}>Open a terminal</Button>}>
        A shell in the sandbox on the files of {branch}, without network. When it ends, you can save what it changed as one commit.
      </EmptyState>
    );
  }
  return (
    <section aria-label="Shell" className="flex h-full min-h-0 flex-col">
      <div className="flex items-center gap-2 border-b border-line px-3 py-1.5 text-xs text-muted">
        <span className="min-w-0 flex-1 truncate">{state.is === "ended" ? "The shell has ended." : `Sandbox on ${branch}, no network`}</span>
        {state.is === "open" && (
          <Button small onClick={() => connection.current?.end()}>
            End
          </Button>
        )}
      </div>
      {state.is === "ended" && (
        <Changes ended={state.ended} onSave={(message) => connection.current?.save(message)} onDiscard={() => connection.current?.discard()} />
      )}
      <div ref={place} className="min-h-0 flex-1 overflow-hidden bg-[#1b1d23] p-2" />
    </section>
  );
}
