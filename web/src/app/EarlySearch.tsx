import { useStored } from "@/lib/stored";
import { Input } from "@/ui";

export interface EarlySearchProps {
  repo: string;
  onEarly: (early: boolean) => void;
}

const NOTHING: { pattern?: string } = {};

/** The field of the search panel while that is being fetched: it has the focus at once, so that no letter goes elsewhere. */
export function EarlySearch({ repo, onEarly }: EarlySearchProps) {
  const [form, setForm] = useStored(`search:${repo}`, NOTHING);
  return (
    <div className="p-3">
      <Input
        aria-label="Search in files"
        placeholder="Search in files"
        autoFocus
        maxLength={1000}
        value={form.pattern ?? ""}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => {
          onEarly(true);
          setForm((before) => ({ ...before, pattern: event.target.value }));
        }}
      />
    </div>
  );
}
