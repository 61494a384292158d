import { lazy, Suspense, type ComponentType, type ReactNode } from "react";

import { patiently } from "@/lib/patiently";
import { Skeleton } from "@/ui";

/** A component of a feature, fetched when it is first shown. `meanwhile` is shown until then; true: nothing, for small parts. */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>, meanwhile: true | ((props: P) => ReactNode) = lines): (props: P) => ReactNode {
  const Loaded = lazy(async () => ({ default: await patiently(load) }));
  return function Lazily(props: P) {
    return (
      <Suspense fallback={meanwhile === true ? null : meanwhile(props)}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}

function lines(): ReactNode {
  return <Skeleton lines={4} />;
}
