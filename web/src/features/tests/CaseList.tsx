import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleMinus, CircleX, Shuffle, type LucideIcon } from "lucide-react";
import { useState } from "react";

import type { TestCase } from "@/api";
import { classNames } from "@/lib/class_names";
import { filePlace } from "@/lib/places";
import { Button } from "@/ui";

import { timeOf } from "./verdict";

/** More rows are drawn when somebody asks for them. */
const AT_FIRST = 300;

export interface CaseListProps {
  repo: string;
  branch: string;
  cases: readonly TestCase[];
}

export function CaseList({ repo, branch, cases }: CaseListProps) {
  const [all, setAll] = useState(false);
  const drawn = all ? cases : cases.slice(0, AT_FIRST);
  return (
    <>
      <ul aria-label="Tests" className="border-t border-line">
        {drawn.map((each) => (
          <CaseRow key={each.name} repo={repo} branch={branch} test={each} />
        ))}
      </ul>
      {drawn.length < cases.length && (
        <div className="px-3 py-2">
          <Button small onClick={() => setAll(true)}>{`Show all ${cases.length.toLocaleString("en")}`}</Button>
        </div>
      )}
    </>
  );
}

const LOOK: Record<TestCase["result"] | "flaky", { icon: LucideIcon; color: string; word: string }> = {
  passed: { icon: CircleCheck, color: "text-good", word: "Passed" },
  failed: { icon: CircleX, color: "text-bad", word: "Failed" },
  skipped: { icon: CircleMinus, color: "text-muted", word: "Skipped" },
  flaky: { icon: Shuffle, color: "text-attention", word: "Flaky: failed first, passed when run again" },
};

function CaseRow({ repo, branch, test }: { repo: string; branch: string; test: TestCase }) {
  const { icon: Icon, color, word } = LOOK[test.flaky ? "flaky" : test.result];
  const told = test.message !== "" && (test.result === "failed" || test.flaky);
  return (
    <li className="border-b border-line px-3 py-1.5 text-sm">
      <div className="flex flex-wrap items-center gap-x-2">
        <span className="flex min-w-0 gap-2">
          <Icon role="img" aria-label={word} size={14} className={classNames("mt-0.75 shrink-0", color)} />
          <span className="min-w-0 break-all">{test.name}</span>
        </span>
        {test.flaky && <span className="text-xs text-attention">flaky</span>}
        {test.file !== "" && (
          <Link {...filePlace({ repo, branch, file: test.file, line: test.line > 0 ? test.line : undefined })} className="font-mono text-xs break-all text-accent hover:underline">
            {test.line > 0 ? `${test.file}:${test.line}` : test.file}
          </Link>
        )}
        <span className="flex-1" />
        <span className="text-xs text-muted">{timeOf(test.seconds)}</span>
      </div>
      {told && <pre className="mt-1 ml-5.5 max-h-60 overflow-auto rounded-md bg-surface-1 p-2 font-mono text-xs whitespace-pre-wrap">{test.message}</pre>}
    </li>
  );
}
