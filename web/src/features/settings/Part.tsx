import type { ReactNode } from "react";

export interface PartProps {
  title: string;
  about?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
}

/** A titled box within a section; what is inside is divided by lines. */
export function Part({ title, about, aside, children }: PartProps) {
  return (
    <section aria-label={title} className="mt-6 first:mt-0">
      <div className="mb-2 flex items-end gap-3">
        <div className="min-w-0 flex-1">
          <h2 className="text-lg font-semibold">{title}</h2>
          {about !== undefined && about !== "" && <p className="text-muted">{about}</p>}
        </div>
        {aside}
      </div>
      <div className="divide-y divide-line overflow-hidden rounded-md border border-line">{children}</div>
    </section>
  );
}
