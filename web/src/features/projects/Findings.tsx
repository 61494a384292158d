import { CircleX } from "lucide-react";

import type { Finding } from "./contract_queries";

export interface FindingsProps {
  findings: readonly Finding[];
  /** Given: a finding is a button that leads to its line. */
  onLine?: (line: number) => void;
}

/** What the check says, each with its line and what to do. */
export function Findings({ findings, onLine }: FindingsProps) {
  if (findings.length === 0) return null;
  return (
    <ul aria-label="Findings" className="max-h-40 shrink-0 overflow-y-auto border-b border-line px-3 py-2 text-xs">
      {findings.map((finding, at) => (
        <li key={at} className="flex gap-2 py-0.5">
          <CircleX aria-hidden size={13} className="mt-0.5 shrink-0 text-bad" />
          <span className="min-w-0">
            {onLine === undefined ? (
              <span className="tabular-nums">Line {finding.line}</span>
            ) : (
              <button type="button" className="text-accent underline tabular-nums" onClick={() => onLine(finding.line)}>
                Line {finding.line}
              </button>
            )}
            {" · "}
            {finding.message} <span className="text-muted">{finding.hint}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}
