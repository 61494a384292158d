import { GitFork, X } from "lucide-react";

import { IconButton, Input } from "@/ui";

export interface EditBannerProps {
  number: number | null;
  name: string;
  onName: (name: string) => void;
  onCancel: () => void;
}

/** Says that the message goes to a branch of its own, and lets it be named. */
export function EditBanner({ number, name, onName, onCancel }: EditBannerProps) {
  return (
    <div className="flex items-center gap-2 border-b border-line py-1 pr-1 pl-3 text-xs">
      <GitFork aria-hidden size={13} className="shrink-0 text-accent" />
      <span className="shrink-0">Turn {number} anew, on the branch</span>
      <div className="min-w-0 flex-1">
        <Input aria-label="Name of the new branch" value={name} className="h-6! font-mono text-xs" onChange={(event) => onName(event.target.value)} />
      </div>
      <IconButton small icon={X} label="Leave it as it is" onClick={onCancel} />
    </div>
  );
}
