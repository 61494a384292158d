import { Compass } from "lucide-react";
import { useState } from "react";

import { Chip, EmptyState, toast } from "@/ui";

import { AssumptionDetails } from "./AssumptionDetails";
import { useExplorationChange, type Exploration } from "./exploration";
import { RegisterExport } from "./Exports";
import { told } from "./problems";
import { RegisterGraph } from "./RegisterGraph";
import { RegisterMatrix } from "./RegisterMatrix";
import { RegisterTable } from "./RegisterTable";
import { RegisterTree } from "./RegisterTree";

export interface RegisterViewProps {
  known: Exploration;
  /** A change is under way. */
  busy: boolean;
  /** Calls a tool of the register; true once it is recorded. */
  change: (tool: string, values: Record<string, unknown>) => Promise<boolean>;
  /** The same in all views. */
  selected: string | undefined;
  /** Selects it; the selected one is let go. */
  onSelect: (id: string) => void;
}

const VIEWS = [
  ["table", "Table", [RegisterTable]],
  ["tree", "Tree", [RegisterTree]],
  ["matrix", "Impact × confidence", [RegisterMatrix]],
  ["graph", "Dependencies", [RegisterGraph]],
  ["linked", "All three", [RegisterTree, RegisterMatrix, RegisterGraph]],
] as const;

/** The assumptions in several views of the same register: what is selected in one is selected in all. */
export function Register({ project, known }: { project: string; known: Exploration }) {
  const [view, setView] = useState<(typeof VIEWS)[number][0]>("table");
  const [selected, setSelected] = useState<string>();
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
  const views = (VIEWS.find(([name]) => name === view) ?? VIEWS[0])[2];
  const onSelect = (id: string) => setSelected((before) => (before === id ? undefined : id));
  const assumption = known.assumptions.find(({ id }) => id === selected);
  return (
    <section aria-label="Assumptions" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="flex-1 font-semibold">Assumptions</h2>
        {known.assumptions.length > 0 && (
          <>
            <div role="group" aria-label="View of the register" className="flex flex-wrap gap-1">
              {VIEWS.map(([name, title]) => (
                <Chip key={name} pressed={view === name} onClick={() => setView(name)}>
                  {title}
                </Chip>
              ))}
            </div>
            <RegisterExport project={project} />
          </>
        )}
      </div>
      {known.assumptions.length === 0 ? (
        <EmptyState icon={Compass}>None yet. Write in the chat what problem you want to solve.</EmptyState>
      ) : (
        <div className={views.length > 1 ? "grid items-start gap-3 @3xl:grid-cols-2 [&>*:last-child]:@3xl:col-span-2" : ""}>
          {views.map((View, i) => (
            <div key={i} className="flex min-w-0 flex-col gap-2">
              <View known={known} busy={calling.isPending} change={change} selected={selected} onSelect={onSelect} />
            </div>
          ))}
        </div>
      )}
      {assumption !== undefined && <AssumptionDetails assumption={assumption} onClose={() => setSelected(undefined)} />}
    </section>
  );
}
