import { Check, CircleDot, X } from "lucide-react";
import { memo } from "react";

import { Disclosure } from "./Disclosure";
import type { Call } from "./parts";
import { seconds, toolWords } from "./tool_words";
import { ToolDetails } from "./ToolDetails";

function outcome(call: Call, over: boolean): "running" | "done" | "failed" | "ended" {
  if (call.result !== null) return call.failed ? "failed" : "done";
  return over ? "ended" : "running";
}

const MARKS = {
  running: <CircleDot aria-hidden size={13} className="text-running" />,
  done: <Check aria-hidden size={13} className="text-good" />,
  failed: <X aria-hidden size={13} className="text-bad" />,
  ended: <X aria-hidden size={13} className="text-muted" />,
};

/** `over`: the turn has ended, so a call without a result will never have one. */
export const ToolRow = memo(function ToolRow({ call, over }: { call: Call; over: boolean }) {
  const { verb, icon: Icon } = toolWords(call.name);
  const how = outcome(call, over);
  return (
    <Disclosure content={() => <ToolDetails call={call} />} label={`${verb} ${call.about}, ${how}`.replace(" ,", ",")}>
      <Icon aria-hidden size={14} className="shrink-0 text-muted" />
      <span className="shrink-0">{verb}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted" title={call.about}>
        {call.about}
      </span>
      {call.seconds !== null && call.seconds >= 0.05 && <span className="shrink-0 text-xs text-muted">{seconds(call.seconds)}</span>}
      <span className="flex shrink-0 items-center gap-1 text-xs text-muted">
        {MARKS[how]}
        {how !== "done" && how}
      </span>
    </Disclosure>
  );
});
