import { CircleCheck, CircleSlash } from "lucide-react";
import { useState } from "react";

import { useQuestions, useSession, useTools, useToolChange, type Shapes } from "@/api";
import { useStored } from "@/lib/stored";

import { ApprovalCard } from "./ApprovalCard";
import { QuestionCard } from "./QuestionCard";

export interface CardsProps {
  repo: string;
  branch: string;
  /** A turn is under way: nothing can be approved now. */
  locked: boolean;
  onOpenFile: (path: string) => void;
}

interface Decided {
  /** Of the tool as it was. */
  id: string;
  text: string;
  good: boolean;
  /** The tool that may be decided upon again. */
  tool?: string;
}

const NONE: Decided[] = [];
const NOTHING: ReadonlySet<string> = new Set();
const KEPT = 20;

type OwnTool = Shapes["OwnToolShape"];

/** What waits for the person on this branch. A decision on a tool stays as a line; an answer stands in its turn. */
export function Cards({ repo, branch, locked, onOpenFile }: CardsProps) {
  const [decided, setDecided] = useStored<Decided[]>(`chat:decided:${repo}:${branch}`, NONE);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(NOTHING);
  const questions = useQuestions();
  const waitsFor = useSession(repo, branch).data?.working?.waits_for ?? "";
  const tools = useTools(repo, branch);
  const change = useToolChange(repo, branch);
  const known = new Set(decided.map((each) => each.id));
  const decide = (next: Decided) => setDecided((before) => [...before.filter((each) => each.id !== next.id), next].slice(-KEPT));
  const open = (questions.data ?? []).filter((each) => each.repository === repo && each.branch === branch && !answered.has(each.id));
  const waiting = (tools.data?.own ?? []).filter((tool) => tool.state === "new" || tool.state === "changed");
  const asked = waiting.filter((tool) => !known.has(tool.hash));
  const refuse = (tool: OwnTool) => decide({ id: tool.hash, text: `You refused the tool ${tool.name}.`, good: false, tool: tool.name });
  const approved = (tool: OwnTool) => decide({ id: tool.hash, text: `You approved the tool ${tool.name}.`, good: true });
  return (
    <>
      {waitsFor !== "" && <p role="status" className="py-1 text-xs break-words text-attention">{waitsFor}</p>}
      {decided.map((each) => (
        <p key={each.id} className="flex items-center gap-2 py-1 text-xs text-muted">
          {each.good ? <CircleCheck aria-hidden size={13} className="shrink-0 text-good" /> : <CircleSlash aria-hidden size={13} className="shrink-0" />}
          <span className="min-w-0 break-words">{each.text}</span>
          {each.tool !== undefined && waiting.some((tool) => tool.hash === each.id) && (
            <button
              type="button"
              disabled={locked || change.isPending}
              className="text-accent underline underline-offset-2 disabled:opacity-50"
              onClick={() => change.mutate({ name: each.tool ?? "", approve: true, hash: each.id }, { onSuccess: () => decide({ id: each.id, text: `You approved the tool ${each.tool ?? ""}.`, good: true }) })}
            >
              Approve after all
            </button>
          )}
        </p>
      ))}
      {asked.map((tool) => (
        <ApprovalCard key={tool.hash} repo={repo} branch={branch} tool={tool} locked={locked} onRefuse={refuse} onApproved={approved} onOpen={onOpenFile} />
      ))}
      {open.map((question) => (
        <QuestionCard key={question.id} question={question} onAnswered={(each) => setAnswered((before) => new Set([...before, each.id]))} />
      ))}
    </>
  );
}
