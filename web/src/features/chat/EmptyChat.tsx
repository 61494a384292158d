import { MessageSquareText } from "lucide-react";

import { Chip, EmptyState } from "@/ui";

const IDEAS = ["Explain what this repository does", "Find the largest risk in this code", "Write a test for what has none"];

/** Teaches: one sentence, and things to try. */
export function EmptyChat({ branch, isProtected, onTry }: { branch: string; isProtected: boolean; onTry: (text: string) => void }) {
  return (
    <div className="flex h-full items-center">
      <EmptyState
        icon={MessageSquareText}
        title={isProtected ? `Start from ${branch}` : `Nothing was said on ${branch} yet`}
        action={IDEAS.map((idea) => (
          <Chip key={idea} onClick={() => onTry(idea)}>
            {idea}
          </Chip>
        ))}
      >
        {isProtected
          ? "Agents do not write here. Your first message creates a new branch; merge it when you like the result."
          : "Say what you want to have done. Each turn ends in one commit that you can look at, fork or undo."}
      </EmptyState>
    </div>
  );
}
