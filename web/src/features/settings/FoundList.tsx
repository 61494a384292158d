import { ChevronRight } from "lucide-react";

import { EmptyState } from "@/ui";

import type { Found } from "./found";

export interface FoundListProps {
  query: string;
  results: readonly Found[];
  onOpen: (found: Found) => void;
}

export function FoundList({ query, results, onOpen }: FoundListProps) {
  return (
    <div className="mx-auto max-w-190">
      <h1 className="mb-3 text-xl font-semibold">Found for “{query.trim()}”</h1>
      {results.length === 0 && <EmptyState>No setting has these words. Try another one, such as spending.</EmptyState>}
      {results.length > 0 && (
        <ul aria-label="Found settings" className="divide-y divide-line rounded-md border border-line">
          {results.map((each) => (
            <li key={`${each.section.id} ${each.hash ?? ""}`}>
              <button type="button" onClick={() => onOpen(each)} className="focus-inset flex w-full items-center gap-3 px-4 py-2.5 text-left hover:bg-surface-1">
                <span className="min-w-0 flex-1">
                  <span className="font-medium">{each.title}</span>
                  <span className="block truncate text-xs text-muted">{each.about}</span>
                </span>
                <span className="text-xs text-muted">{each.section.title}</span>
                <ChevronRight aria-hidden size={14} className="text-muted" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
