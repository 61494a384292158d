/** The one dialog that is open, whoever asked for it. */
import { useState } from "react";

import type { Offer, Source, Verb } from "./offers";

export type Ask =
  /** Which branch? Then the preview. */
  | { what: "pick"; verb: Verb; source: Source }
  | { what: "merge"; offer: Offer }
  | { what: "branch"; start: string; name?: string }
  | { what: "delete"; branch: string };

export interface Asking {
  asked: Ask | null;
  ask: (ask: Ask) => void;
  close: () => void;
}

export function useAsking(): Asking {
  const [asked, setAsked] = useState<Ask | null>(null);
  return { asked, ask: setAsked, close: () => setAsked(null) };
}
