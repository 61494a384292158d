import { Compass } from "lucide-react";
import { useState } from "react";

import { Chip, EmptyState, toast } from "@/ui";

import { useExplorationChange, type Exploration } from "./exploration";
import { told } from "./problems";
import { RegisterGraph } from "./RegisterGraph";
import { RegisterMatrix } from "./RegisterMatrix";
import { RegisterTable } from "./RegisterTable";

export interface RegisterViewProps {
  known: Exploration;
  /** A change is under way. */
  busy: boolean;
  /** Calls a tool of the register; true once it is recorded. */
  change: (tool: string, values: Record<string, unknown>) => Promise<boolean>;
}

const VIEWS = [
  ["table", "Table", RegisterTable],
  ["matrix", "Impact × confidence", RegisterMatrix],
  ["graph", "Dependencies", RegisterGraph],
] as const;

/** The assumptions in three views of the same register. */
export function Register({ project, known }: { project: string; known: Exploration }) {
  const [view, setView] = useState<(typeof VIEWS)[number][0]>("table");
  const calling = useExplorationChange(project);
  const change = async (tool: string, values: Record<string, unknown>) => {
    try {
      const { text } = await calling.mutateAsync({ tool, arguments: values });
      toast({ text });
      return true;
    } catch (error) {
      toast({ text: told(error), meaning: "bad" });
      return false;
    }
  };
  const View = (VIEWS.find(([name]) => name === view) ?? VIEWS[0])[2];
  return (
    <section aria-label="Assumptions" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="flex-1 font-semibold">Assumptions</h2>
        {known.assumptions.length > 0 && (
          <div role="group" aria-label="View of the register" className="flex flex-wrap gap-1">
            {VIEWS.map(([name, title]) => (
              <Chip key={name} pressed={view === name} onClick={() => setView(name)}>
                {title}
              </Chip>
            ))}
          </div>
        )}
      </div>
      {known.assumptions.length === 0 ? (
        <EmptyState icon={Compass}>None yet. Write in the chat what problem you want to solve.</EmptyState>
      ) : (
        <View known={known} busy={calling.isPending} change={change} />
      )}
    </section>
  );
}
