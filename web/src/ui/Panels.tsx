/** Panels beside or below each other; their sizes are remembered by the group's id. */
import type { ReactNode, Ref } from "react";
import { Group, Panel as Base, Separator, useDefaultLayout, type PanelImperativeHandle } from "react-resizable-panels";

import { classNames } from "@/lib/class_names";

export type { PanelImperativeHandle as PanelHandle };

export interface PanelsProps {
  /** Names the remembered layout. */
  id: string;
  direction?: "horizontal" | "vertical";
  /** `Panel`s with a `PanelEdge` between each two. */
  children: ReactNode;
  /** The ids of the panels, where some are not always there. */
  panelIds?: string[];
}

export function Panels({ id, direction = "horizontal", children, panelIds }: PanelsProps) {
  const layout = useDefaultLayout({ id: `forge:panels:${id}`, storage: localStorage, ...(panelIds && { panelIds }) });
  return (
    <Group {...layout} orientation={direction} className="h-full min-h-0">
      {children}
    </Group>
  );
}

export interface PanelProps {
  id: string;
  /** Numbers are pixels, strings percentages ("30"). */
  size?: number | string;
  min?: number | string;
  max?: number | string;
  collapsible?: boolean;
  /** Keeps its pixels when the window changes. */
  fixed?: boolean;
  handle?: Ref<PanelImperativeHandle | null>;
  onResize?: (pixels: number) => void;
  children: ReactNode;
}

export function Panel({ id, size, min, max, collapsible, fixed, handle, onResize, children }: PanelProps) {
  return (
    <Base
      id={id}
      defaultSize={size}
      minSize={min}
      maxSize={max}
      collapsible={collapsible}
      panelRef={handle}
      groupResizeBehavior={fixed ? "preserve-pixel-size" : "preserve-relative-size"}
      onResize={onResize && ((now) => onResize(now.inPixels))}
      className="flex min-h-0 min-w-0 flex-col"
    >
      {children}
    </Base>
  );
}

/** The hairline between two panels: dragged, or moved with the arrow keys. */
export function PanelEdge({ direction = "horizontal" }: { direction?: "horizontal" | "vertical" }) {
  return (
    <Separator
      className={classNames(
        "bg-line transition-colors hover:bg-accent focus-visible:bg-accent focus-visible:outline-none data-[separator=active]:bg-accent",
        direction === "horizontal" ? "w-px" : "h-px",
      )}
    />
  );
}
