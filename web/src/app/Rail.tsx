import { Link, type LinkProps } from "@tanstack/react-router";
import { FolderGit2, House, LayoutList, Monitor, Moon, Search, Settings, SquareKanban, Sun, type LucideIcon } from "lucide-react";

import { IconButton, Menu, Tooltip, useTheme, type Theme } from "@/ui";

import { useShell, type Side } from "./shell_state";

const PLACES: { to: LinkProps["to"]; label: string; icon: LucideIcon; keys: string }[] = [
  { to: "/", label: "Home", icon: House, keys: "g h" },
  { to: "/projects", label: "Projects", icon: LayoutList, keys: "g p" },
  { to: "/board", label: "Board", icon: SquareKanban, keys: "g b" },
];
const THEMES: { value: Theme; label: string; icon: LucideIcon }[] = [
  { value: "system", label: "As the system", icon: Monitor },
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
];
const ITEM =
  "flex size-9 items-center justify-center rounded-md text-muted transition-colors hover:bg-surface-2 hover:text-text";
const HERE = "bg-surface-2 text-accent!";

export function Rail() {
  return (
    <nav aria-label="Places" className="flex w-12 shrink-0 flex-col items-center gap-1 border-r border-line bg-surface-1 py-2">
      {PLACES.slice(0, 1).map((place) => (
        <Place key={place.label} {...place} />
      ))}
      <SideButton side="branches" label="Repositories and branches" icon={FolderGit2} keys="mod+b" />
      <SideButton side="search" label="Search in files" icon={Search} keys="mod+shift+f" />
      {PLACES.slice(1).map((place) => (
        <Place key={place.label} {...place} />
      ))}
      <span className="flex-1" />
      <ThemeButton />
      <Tooltip text="Settings" keys="mod+," side="right">
        <Link to="/settings/$section" params={{ section: "models" }} aria-label="Settings" className={ITEM} activeOptions={{ exact: false }} activeProps={{ className: HERE }}>
          <Settings aria-hidden size={18} strokeWidth={1.75} />
        </Link>
      </Tooltip>
    </nav>
  );
}

function Place({ to, label, icon: Icon, keys }: (typeof PLACES)[number]) {
  return (
    <Tooltip text={label} keys={keys} side="right">
      <Link to={to} aria-label={label} className={ITEM} activeOptions={{ exact: to === "/" }} activeProps={{ className: HERE }}>
        <Icon aria-hidden size={18} strokeWidth={1.75} />
      </Link>
    </Tooltip>
  );
}

function SideButton({ side, ...rest }: { side: Side; label: string; icon: LucideIcon; keys: string }) {
  const shell = useShell();
  const shown = shell.sideOpen && shell.side === side;
  const toggle = () => {
    shell.setSide(side);
    shell.setSideOpen(!shown);
  };
  return <IconButton {...rest} pressed={shown} className="size-9 aria-pressed:bg-transparent" onClick={toggle} />;
}

function ThemeButton() {
  const [theme, setTheme] = useTheme();
  const now = THEMES.find((each) => each.value === theme);
  return (
    <Menu
      side="right"
      entries={[
        { heading: "Appearance" },
        ...THEMES.map(({ value, label, icon }) => ({ label, icon, checked: value === theme, onSelect: () => setTheme(value) })),
      ]}
    >
      <button type="button" aria-label={`Appearance: ${now?.label ?? ""}`} className={ITEM}>
        {theme === "dark" ? <Moon aria-hidden size={18} /> : theme === "light" ? <Sun aria-hidden size={18} /> : <Monitor aria-hidden size={18} />}
      </button>
    </Menu>
  );
}
