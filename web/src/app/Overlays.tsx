import { useEffect, useState } from "react";

import { EarlyField, type Typing } from "./EarlyField";
import { QuickOpen } from "./features";
import { useHere } from "./here";
import { lazily } from "./lazily";
import { useShell, type Overlay } from "./shell_state";

const Palette = lazily<Typing>(
  async () => (await import("./Palette")).Palette,
  (typing) => <EarlyField {...typing} label="Commands" className="top-[12vh] w-[min(600px,calc(100vw-32px))]" />,
);
const Shortcuts = lazily(async () => (await import("./Shortcuts")).Shortcuts, true);

/** What opens over everything, one at a time. */
export function Overlays() {
  const { overlay, setOverlay } = useShell();
  return overlay !== null && <Opened key={overlay} overlay={overlay} onClose={() => setOverlay(null)} />;
}

function Opened({ overlay, onClose }: { overlay: NonNullable<Overlay>; onClose: () => void }) {
  const { repo, branch } = useHere();
  // Kept here, because letters may come before the field that they are for.
  const [typed, setTyped] = useState("");
  const [entered, setEntered] = useState(false);
  useFocusBack();
  const onTyped = (next: string) => {
    setTyped(next);
    setEntered(false);
  };
  const typing = { typed, onTyped, onClose };
  if (overlay === "palette") return <Palette {...typing} />;
  if (overlay === "shortcuts") return <Shortcuts onClose={onClose} />;
  return repo !== undefined && branch !== undefined && <QuickOpen repo={repo} branch={branch} {...typing} entered={entered} onEnter={() => setEntered(true)} />;
}

/** A dialog gives the focus back to where it was; one whose early field had it would give it to nobody. */
function useFocusBack(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      setTimeout(() => document.activeElement === document.body && before instanceof HTMLElement && before.focus(), 0);
    },
    [before],
  );
}
