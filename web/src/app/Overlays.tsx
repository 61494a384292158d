import { QuickOpen } from "./features";
import { useHere } from "./here";
import { lazily } from "./lazily";
import { useShell } from "./shell_state";

const Palette = lazily(async () => (await import("./Palette")).Palette, true);
const Shortcuts = lazily(async () => (await import("./Shortcuts")).Shortcuts, true);

/** What opens over everything, one at a time. */
export function Overlays() {
  const { overlay, setOverlay } = useShell();
  const { repo, branch } = useHere();
  const onClose = () => setOverlay(null);
  if (overlay === "palette") return <Palette onClose={onClose} />;
  if (overlay === "shortcuts") return <Shortcuts onClose={onClose} />;
  if (overlay === "quick-open" && repo !== undefined && branch !== undefined) {
    return <QuickOpen open repo={repo} branch={branch} onClose={onClose} />;
  }
  return null;
}
