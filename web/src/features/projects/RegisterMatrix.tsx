import { useState, type DragEvent } from "react";

import { classNames } from "@/lib/class_names";
import { Button, Input } from "@/ui";

import type { Assumption } from "./exploration";
import type { RegisterViewProps } from "./Register";
import { Select } from "./Select";

const IMPACTS = ["high", "medium", "low"] as const;
const CONFIDENCES = ["guessed", "informed", "validated"] as const;
const DRAGGED = "application/x-forge-assumption";

interface Place {
  impact: Assumption["impact"];
  confidence: Assumption["confidence"];
}

const options = (names: readonly string[]) => names.map((value) => ({ value, label: value }));

/** Top left is what to test first. A person chooses an assumption and moves it by the form, or drags it. */
export function RegisterMatrix({ known, busy, change, selected, onSelect }: RegisterViewProps) {
  // Where the selected one is to go, if not where it is.
  const [target, setTarget] = useState<{ id: string; to: Place }>();
  const assumption = known.assumptions.find(({ id }) => id === selected);
  const chosen = assumption && { id: assumption.id, to: target?.id === assumption.id ? target.to : { impact: assumption.impact, confidence: assumption.confidence } };
  const move = async (id: string, to: Place, why: string) => {
    const said = why.trim();
    const values = { assumption_id: id, ...to, reason: said || "Moved in the view of impact and confidence.", ...(said && { basis: said }) };
    if ((await change("update_assumption_confidence", values)) && id === selected) onSelect(id);
    setTarget(undefined);
  };
  const dropped = (id: string, to: Place) => {
    const each = known.assumptions.find((one) => one.id === id);
    if (each === undefined || (each.impact === to.impact && each.confidence === to.confidence)) return;
    // Only evidence validates: the form asks for it.
    if (to.confidence === "validated") {
      setTarget({ id, to });
      if (id !== selected) onSelect(id);
    } else void move(id, to, "");
  };
  return (
    <div className="flex flex-col gap-2">
      <table className="w-full table-fixed border-separate border-spacing-1 text-left">
        <caption className="sr-only">Assumptions by impact and confidence</caption>
        <thead className="text-xs text-muted">
          <tr>
            <th scope="col" className="w-13 font-normal">
              Impact
            </th>
            {CONFIDENCES.map((name) => (
              <th key={name} scope="col" className="px-1 font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {IMPACTS.map((impact) => (
            <tr key={impact}>
              <th scope="row" className="align-top text-xs font-normal text-muted">
                {impact}
              </th>
              {CONFIDENCES.map((confidence) => (
                <Cell key={confidence} first={impact === "high" && confidence === "guessed"} onDrop={(id) => dropped(id, { impact, confidence })}>
                  {known.assumptions
                    .filter((each) => each.impact === impact && each.confidence === confidence)
                    .map((each) => (
                      <Item
                        key={each.id}
                        assumption={each}
                        pressed={selected === each.id}
                        onPress={() => onSelect(each.id)}
                      />
                    ))}
                </Cell>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {chosen === undefined || assumption === undefined ? (
        <p className="text-xs text-muted">Choose an assumption to move it, or drag it to another field.</p>
      ) : (
        <MoveForm key={`${chosen.id}${chosen.to.impact}${chosen.to.confidence}`} assumption={assumption} start={chosen.to} busy={busy} move={move} />
      )}
    </div>
  );
}

function Cell({ first, onDrop, children }: { first: boolean; onDrop: (id: string) => void; children: React.ReactNode }) {
  const [over, setOver] = useState(false);
  const takes = (event: DragEvent) => event.dataTransfer.types.includes(DRAGGED);
  return (
    <td
      className={classNames("h-16 rounded-md border p-0.5 align-top @md:p-1", over ? "border-accent bg-surface-2" : first ? "border-attention" : "border-line bg-surface-1")}
      onDragOver={(event) => {
        if (!takes(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!takes(event)) return;
        event.preventDefault();
        onDrop(event.dataTransfer.getData(DRAGGED));
      }}
    >
      {first && <span className="block px-1 text-xs text-attention">Test first</span>}
      <span className="flex flex-col gap-1">{children}</span>
    </td>
  );
}

function Item({ assumption, pressed, onPress }: { assumption: Assumption; pressed: boolean; onPress: () => void }) {
  return (
    <button
      type="button"
      draggable
      aria-pressed={pressed}
      title={assumption.claim}
      onClick={onPress}
      onDragStart={(event) => event.dataTransfer.setData(DRAGGED, assumption.id)}
      className={classNames(
        "w-full min-w-0 rounded-sm border bg-surface-0 px-1 py-1 text-left @md:px-1.5 text-xs hover:bg-surface-2",
        pressed ? "border-accent" : "border-line",
      )}
    >
      <span className="font-medium">{assumption.id}</span>
      {assumption.status !== "active" && <span className="text-muted">{` ${assumption.status.replace("_", " ")}`}</span>}
      <span className="sr-only @sm:not-sr-only @sm:line-clamp-3"> {assumption.claim}</span>
    </button>
  );
}

interface MoveFormProps {
  assumption: Assumption;
  start: Place;
  busy: boolean;
  move: (id: string, to: Place, why: string) => Promise<void>;
}

function MoveForm({ assumption, start, busy, move }: MoveFormProps) {
  const [to, setTo] = useState(start);
  const [why, setWhy] = useState("");
  const missing = to.confidence === "validated" && assumption.confidence !== "validated" && assumption.evidence_for.length === 0 && why.trim() === "";
  const same = to.impact === assumption.impact && to.confidence === assumption.confidence;
  return (
    <form
      aria-label={`Move ${assumption.id}`}
      className="flex flex-col gap-2 rounded-md border border-line p-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!missing && !same) void move(assumption.id, to, why);
      }}
    >
      <p>
        <span className="font-medium">{assumption.id}</span> {assumption.claim}
      </p>
      <div className="flex flex-wrap gap-2">
        <Select label="Impact" value={to.impact} options={options(IMPACTS)} onChange={(impact) => setTo({ ...to, impact: impact as Place["impact"] })} />
        <Select
          label="Confidence"
          value={to.confidence}
          options={options(CONFIDENCES)}
          onChange={(confidence) => setTo({ ...to, confidence: confidence as Place["confidence"] })}
        />
      </div>
      <Input
        label="Why"
        value={why}
        hint={missing ? "Say what validates it: who confirmed it, or what was measured." : "Kept in the history of the assumption."}
        onChange={(event) => setWhy(event.target.value)}
      />
      <Button type="submit" className="self-start" busy={busy} disabled={missing || same}>
        {`Move ${assumption.id}`}
      </Button>
    </form>
  );
}
