import { X } from "lucide-react";
import type { ReactNode } from "react";

import { IconButton, RelativeTime } from "@/ui";

import type { Assumption } from "./exploration";

const text = (value: unknown) => (typeof value === "string" ? value : "");

/** What is known about the selected assumption, with its history. */
export function AssumptionDetails({ assumption, onClose }: { assumption: Assumption; onClose: () => void }) {
  const rests = assumption.depends_on.join(", ");
  return (
    <section aria-label={`About ${assumption.id}`} className="flex flex-col gap-2 rounded-md border border-accent p-3">
      <div className="flex items-start gap-2">
        <p className="min-w-0 flex-1">
          <span className="font-medium">{assumption.id}</span> {assumption.claim}
        </p>
        <IconButton small icon={X} label="Close" onClick={onClose} />
      </div>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 text-xs">
        <Fact name="Status">{`${assumption.status.replace("_", " ")}, ${assumption.impact} impact, ${assumption.confidence}, risk ${assumption.risk.toFixed(1)}`}</Fact>
        <Fact name="Basis">{assumption.basis}</Fact>
        <Fact name="Source">{assumption.source}</Fact>
        <Fact name="Rests on">{rests}</Fact>
        <Fact name="Cheapest test">{assumption.cheapest_test}</Fact>
        <Fact name="Owner">{assumption.owner}</Fact>
        <Fact name="Expires">{assumption.expires}</Fact>
        <Fact name="For">{assumption.evidence_for.map((each) => text(each["source"])).join("; ")}</Fact>
        <Fact name="Against">{assumption.evidence_against.map((each) => text(each["source"])).join("; ")}</Fact>
      </dl>
      {assumption.history.length > 0 && (
        <ol aria-label={`History of ${assumption.id}`} className="flex flex-col gap-1 border-t border-line pt-2 text-xs text-muted">
          {assumption.history.toReversed().map((each, i) => (
            <li key={`${i} ${text(each["time"])}`}>
              {text(each["summary"])} {text(each["reason"])} <RelativeTime time={text(each["time"])} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  if (children === "") return null;
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
