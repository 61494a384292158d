import { lazy, Suspense, type ComponentType, type ReactNode } from "react";

import { patiently } from "@/lib/patiently";
import { Skeleton } from "@/ui";

/** A component of a feature, fetched when it is first shown. `bare` shows nothing meanwhile, for small parts. */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>, bare = false): (props: P) => ReactNode {
  const Loaded = lazy(async () => ({ default: await patiently(load) }));
  return function Lazily(props: P) {
    return (
      <Suspense fallback={bare ? null : <Skeleton lines={4} />}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
