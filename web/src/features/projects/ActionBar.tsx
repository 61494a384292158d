import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { keys, usePress, type Project } from "@/api";
import { useCommand } from "@/lib/commands";
import { classNames } from "@/lib/class_names";
import { Button as Plain, Confirm, toast, Tooltip } from "@/ui";

import { ABOUT, buttons, question, refusal, TITLES, type Button } from "./actions";
import { told } from "./problems";
import { useSendUnsent, useUnsent } from "./unsent";

export interface ActionBarProps {
  project: Project;
  /** Opens the place where input is written. */
  onInput: () => void;
  /** Whether it is open already. */
  inputOpen: boolean;
}

/** Each button is pressed once: it cannot be pressed again until what it began is done, or has failed. */
export function ActionBar({ project, onInput, inputOpen }: ActionBarProps) {
  const client = useQueryClient();
  const press = usePress(project.id);
  const unsent = useUnsent(project.id).text.trim() !== "";
  const sendUnsent = useSendUnsent(project.id);
  const under = useRef<Button | null>(null);
  const [asked, setAsked] = useState<Button | null>(null);

  const perform = async (action: Button, confirmed: boolean) => {
    if (under.current !== null) return;
    under.current = action;
    try {
      // What is in the composer is part of what is distilled.
      if (action === "distill") await sendUnsent();
      const done = await press.mutateAsync({ action, confirmed });
      client.setQueryData([...keys.project(project.id), "itself"], done.project);
    } finally {
      under.current = null;
    }
  };
  const onPress = (action: Button) => {
    if (action === "provide_input") onInput();
    else if (question(action, project, unsent) !== null) setAsked(action);
    else perform(action, false).catch((error: unknown) => toast({ text: told(error), meaning: "bad" }));
  };
  const pressed = press.isPending ? press.variables.action : null;
  const asking = asked === null ? null : question(asked, project, unsent);
  return (
    <div role="group" aria-label="What can be done" className="flex flex-wrap items-center gap-2">
      {buttons(project).map((action, i) => {
        const why =
          pressed !== null
            ? "It was pressed. Wait until it is done."
            : action === "provide_input" && inputOpen
              ? "Write your input below."
              : refusal(action, project);
        return (
          <ActionButton
            key={action}
            action={action}
            offer={project.offers.find((each) => each.action === action)}
            named={project.waiting === "outline"}
            first={i === 0}
            busy={pressed === action}
            refused={why}
            onPress={() => onPress(action)}
          />
        );
      })}
      {asking && (
        <Confirm
          open
          onClose={() => setAsked(null)}
          title={asking.title}
          about={asking.about}
          action={asking.action}
          danger={asking.danger}
          onConfirm={() => (asked === null ? undefined : perform(asked, true))}
        />
      )}
    </div>
  );
}

interface ActionButtonProps {
  action: Button;
  offer: Project["offers"][number] | undefined;
  /** Whether the button has the name of what is offered; else the one that it has everywhere. */
  named: boolean;
  first: boolean;
  busy: boolean;
  /** Why it cannot be pressed. It keeps the focus and tells it. */
  refused: string | undefined;
  onPress: () => void;
}

function ActionButton({ action, offer, named, first, busy, refused, onPress }: ActionButtonProps) {
  const off = refused !== undefined;
  const title = named && offer !== undefined ? offer.title : TITLES[action];
  useCommand({ id: `project.${action}`, title, group: "Project", run: onPress, enabled: !off });
  return (
    <Tooltip text={refused ?? offer?.about ?? ABOUT[action]}>
      <Plain
        kind={action === "terminate" ? "quiet" : first ? "primary" : "plain"}
        aria-disabled={off}
        aria-busy={busy}
        aria-description={refused}
        onClick={() => !off && onPress()}
        className={classNames(off && "cursor-default! opacity-50", action === "terminate" && "text-bad")}
      >
        {title}
      </Plain>
    </Tooltip>
  );
}
