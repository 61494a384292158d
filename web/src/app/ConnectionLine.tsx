import { useConnection } from "@/api";
import { ProgressLine } from "@/ui";

/** A thin line at the top while the server is away; drafts are kept, and nothing is reloaded. */
export function ConnectionLine() {
  const { state } = useConnection();
  if (state !== "reconnecting") return null;
  return (
    <div className="fixed inset-x-0 top-0 z-50">
      <ProgressLine label="Reconnecting" />
    </div>
  );
}
