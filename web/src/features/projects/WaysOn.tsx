import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { useModels, usePress, type Project } from "@/api";
import { projectPlace } from "@/lib/places";
import { Button, TextArea, toast } from "@/ui";

import { answererOptions } from "./answerers";
import { ConnectModel } from "./ConnectModel";
import { told } from "./problems";
import { Select } from "./Select";

type Offer = Project["offers"][number];

/** What a halted project offers, each with a line that explains it. */
export function WaysOn({ project }: { project: Project }) {
  const press = usePress(project.id);
  const run = (body: Parameters<typeof press.mutate>[0]) =>
    press.mutate(body, { onError: (error) => toast({ text: told(error), meaning: "bad" }) });
  const shared = { busy: press.isPending, onPress: run };
  return (
    <section aria-label="What you can do" className="flex flex-col gap-3 rounded-md border border-attention p-3">
      <h2 className="font-semibold text-attention">{project.label}</h2>
      {project.outline !== null && <ConnectModel ways={project.outline.connect} />}
      {project.offers.map((offer) => (
        <div key={offer.action} className="flex flex-col gap-1.5">
          <p>
            <span className="font-medium">{offer.title}.</span> <span className="text-muted">{offer.about}</span>
          </p>
          {offer.takes_agent && <Retry offer={offer} {...shared} />}
          {offer.takes_text && <Input offer={offer} {...shared} />}
          {offer.document !== "" && (
            <Link {...projectPlace(project.id, "documents")} className="w-fit text-accent underline">
              Open {offer.document}
            </Link>
          )}
        </div>
      ))}
    </section>
  );
}

interface OfferProps {
  offer: Offer;
  busy: boolean;
  onPress: (body: { action: "resume" | "provide_input"; agent?: string | null; text?: string }) => void;
}

function Retry({ offer, busy, onPress }: OfferProps) {
  const [agent, setAgent] = useState("");
  const models = useModels().data;
  const options = [{ value: "", label: "As set for each role" }, ...answererOptions(models)];
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Select label="Who answers" value={agent} onChange={setAgent} options={options} />
      <Button kind="primary" busy={busy} onClick={() => onPress({ action: "resume", agent: agent === "" ? null : agent })}>
        {offer.title}
      </Button>
    </div>
  );
}

function Input({ offer, busy, onPress }: OfferProps) {
  const [text, setText] = useState("");
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <TextArea aria-label={offer.title} rows={1} most={6} value={text} onChange={(event) => setText(event.target.value)} />
      </div>
      <Button small busy={busy} disabled={text.trim() === ""} onClick={() => onPress({ action: "provide_input", text })}>
        Send
      </Button>
    </div>
  );
}
