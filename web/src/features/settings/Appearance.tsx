import { Monitor, Moon, Sun, type LucideIcon } from "lucide-react";
import { RadioGroup } from "radix-ui";
import { useSyncExternalStore } from "react";

import { useTheme, type Theme } from "@/ui";

import { Part } from "./Part";

const THEMES: { value: Theme; label: string; about: string; icon: LucideIcon }[] = [
  { value: "system", label: "As the system", about: "Changes when the system does", icon: Monitor },
  { value: "light", label: "Light", about: "Always light", icon: Sun },
  { value: "dark", label: "Dark", about: "Always dark", icon: Moon },
];
const STILL = "(prefers-reduced-motion: reduce)";

function useReducedMotion(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = window.matchMedia(STILL);
      query.addEventListener("change", listener);
      return () => query.removeEventListener("change", listener);
    },
    () => window.matchMedia(STILL).matches,
  );
}

export function Appearance() {
  const [theme, setTheme] = useTheme();
  const still = useReducedMotion();
  return (
    <>
      <Part title="Theme" about="Kept in this browser. Default: as the system.">
        <RadioGroup.Root aria-label="Theme" value={theme} onValueChange={(next) => setTheme(next as Theme)} className="grid gap-3 p-4 sm:grid-cols-3">
          {THEMES.map(({ value, label, about, icon: Icon }) => (
            <RadioGroup.Item
              key={value}
              value={value}
              aria-label={label}
              className="flex flex-col items-start gap-1 rounded-md border border-line p-3 text-left transition-colors hover:bg-surface-1 data-[state=checked]:border-accent data-[state=checked]:bg-surface-1"
            >
              <Icon aria-hidden size={18} strokeWidth={1.75} className={value === theme ? "text-accent" : "text-muted"} />
              <span className="font-medium">{label}</span>
              <span className="text-xs text-muted">{about}</span>
            </RadioGroup.Item>
          ))}
        </RadioGroup.Root>
      </Part>
      <Part title="Motion">
        <p className="px-4 py-3">
          {still ? "Off: your system asks for reduced motion." : "On, short and quiet."} <span className="text-muted">It follows the setting of your system.</span>
        </p>
      </Part>
    </>
  );
}
