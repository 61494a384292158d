/** Light, dark, or as the system has it; and the tokens' colours for what is drawn on a canvas. */
import { useEffect, useSyncExternalStore } from "react";

import { readStored, useStored } from "@/lib/stored";

export type Theme = "system" | "light" | "dark";
const KEY = "theme";
const DARK = "(prefers-color-scheme: dark)";

export function applyTheme(theme: Theme = readStored<Theme>(KEY, "system")): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useStored<Theme>(KEY, "system");
  useEffect(() => applyTheme(theme), [theme]);
  return [theme, setTheme];
}

let system: MediaQueryList | undefined;

/** One for all: to make it takes longer than to read it. */
function systemDark(): MediaQueryList {
  system ??= window.matchMedia(DARK);
  return system;
}

function onSystemTheme(listener: () => void): () => void {
  const query = systemDark();
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** Which of the two is on screen now; a canvas is drawn anew when it changes. */
export function useShownTheme(): "light" | "dark" {
  const [theme] = useTheme();
  const system = useSyncExternalStore(onSystemTheme, () => (systemDark().matches ? "dark" : "light"));
  return theme === "system" ? system : theme;
}

/** The colour of a token as the browser computes it: tokenColor("accent") → "rgb(…)". */
export function tokenColor(token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
