import { classNames } from "@/lib/class_names";
import { Badge } from "@/ui";

import type { Assumption } from "./exploration";
import type { RegisterViewProps } from "./Register";

const STATUS_COLOR: Record<Assumption["status"], string> = {
  active: "text-text",
  at_risk: "text-attention",
  invalidated: "text-bad",
  confirmed: "text-good",
};
const STATUSES = Object.keys(STATUS_COLOR) as Assumption["status"][];

/** Riskiest first. Where there is little room, each row is a small block. */
export function RegisterTable({ known, busy, change, selected, onSelect }: RegisterViewProps) {
  const set = (id: string, status: string) => change("update_assumption_status", { assumption_id: id, status, reason: "Set in the register." });
  return (
    <div className="rounded-md border border-line">
      <table className="block w-full text-left @2xl:table">
        <thead className="hidden text-muted @2xl:table-header-group">
          <tr>
            {["Id", "Risk", "Assumption", "Impact", "Confidence", "Status"].map((title) => (
              <th key={title} scope="col" className="px-3 py-2 font-normal">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="block divide-y divide-line @2xl:table-row-group">
          {known.assumptions.map((each) => (
            <tr key={each.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 @2xl:table-row">
              <td className="@2xl:px-3 @2xl:py-2">
                <button
                  type="button"
                  aria-pressed={selected === each.id}
                  aria-label={`Details of ${each.id}`}
                  onClick={() => onSelect(each.id)}
                  className={classNames("rounded-sm px-1 font-medium underline decoration-dotted hover:bg-surface-2", selected === each.id && "text-accent")}
                >
                  {each.id}
                </button>
              </td>
              <td className="@2xl:px-3 @2xl:py-2">
                <Risk assumption={each} />
              </td>
              <td className="order-first basis-full @2xl:px-3 @2xl:py-2">
                {each.claim}
                {each.depends_on.length > 0 && <span className="text-muted">{` (rests on ${each.depends_on.join(", ")})`}</span>}
              </td>
              <td className="@2xl:px-3 @2xl:py-2">
                {each.impact} <span className="@2xl:hidden">impact</span>
              </td>
              <td className="@2xl:px-3 @2xl:py-2">{each.confidence}</td>
              <td className="@2xl:px-3 @2xl:py-2">
                <select
                  aria-label={`Status of ${each.id}`}
                  className={classNames("h-7 rounded-md border border-line bg-surface-0 px-1", STATUS_COLOR[each.status])}
                  value={each.status}
                  disabled={busy}
                  onChange={(event) => set(each.id, event.target.value)}
                >
                  {STATUSES.map((status) => (
                    <option key={status} value={status}>
                      {status.replace("_", " ")}
                    </option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Risk({ assumption }: { assumption: Assumption }) {
  const risk = assumption.risk.toFixed(1);
  const high = assumption.above_line && assumption.status !== "invalidated";
  return (
    <span title={high ? "Above the line: test it before you decide to build." : "Below the line."}>
      <span className="text-xs text-muted @2xl:hidden">risk </span>
      {high ? (
        <Badge meaning="attention" className="align-middle text-sm">
          {risk} <span className="sr-only">above the line</span>
        </Badge>
      ) : (
        risk
      )}
    </span>
  );
}
