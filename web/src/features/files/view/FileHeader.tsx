import { BookOpen, Code, Columns2, Download, Ellipsis, FileClock, Save, WrapText } from "lucide-react";

import { Button, IconButton, Menu, Path, type MenuEntry } from "@/ui";

export type Mode = "edit" | "preview" | "split";

export interface FileHeaderProps {
  path: string;
  /** Undefined where there is nothing to switch. */
  mode?: Mode | undefined;
  onMode?: (mode: Mode) => void;
  history: boolean;
  onHistory: () => void;
  address: string;
  wrap?: boolean | undefined;
  onWrap?: () => void;
  tabIndents?: boolean | undefined;
  onTabIndents?: () => void;
  onGoToLine?: (() => void) | undefined;
  /** Given where there is something to save. */
  onSave?: (() => void) | undefined;
  saving?: boolean;
}

function download(address: string, path: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = path.slice(path.lastIndexOf("/") + 1);
  link.click();
}

/** The line above a file: where it is, and how it is shown. */
export function FileHeader(props: FileHeaderProps) {
  const { path, mode, onMode, history, onHistory, address, wrap, onWrap, tabIndents, onTabIndents, onGoToLine, onSave, saving } = props;
  const more: MenuEntry[] = [
    ...(onGoToLine ? [{ label: "Go to line", keys: "mod+g", onSelect: onGoToLine }] : []),
    ...(onWrap ? [{ label: "Wrap long lines", icon: WrapText, checked: wrap === true, onSelect: onWrap }] : []),
    ...(onTabIndents ? [{ label: "Tab key indents", checked: tabIndents === true, onSelect: onTabIndents }] : []),
    { label: "Download", icon: Download, onSelect: () => download(address, path) },
  ];
  return (
    <header className="flex h-8 shrink-0 items-center gap-1 border-b border-line pr-1 pl-3">
      <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">
        <Path path={path} most={64} />
      </span>
      {onSave && (
        <Button small icon={Save} busy={saving === true} onClick={onSave}>
          Save
        </Button>
      )}
      {mode !== undefined && onMode && (
        <span role="group" aria-label="How the file is shown" className="flex">
          <IconButton small icon={Code} label="Text" pressed={mode === "edit"} onClick={() => onMode("edit")} />
          <IconButton small icon={Columns2} label="Text and preview" pressed={mode === "split"} onClick={() => onMode("split")} />
          <IconButton small icon={BookOpen} label="Preview" pressed={mode === "preview"} onClick={() => onMode("preview")} />
        </span>
      )}
      <IconButton small icon={FileClock} label="History and differences" pressed={history} onClick={onHistory} />
      <Menu entries={more} align="end">
        <IconButton small icon={Ellipsis} label="More about the file" />
      </Menu>
    </header>
  );
}
