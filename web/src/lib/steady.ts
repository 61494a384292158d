import { useEffect, useRef, useState } from "react";

type Functions = { [name: string]: (...given: never[]) => unknown };

/** The same functions all the time, doing what the newest ones do: whoever is given them is drawn only when it changes. */
export function useSteady<T extends object>(functions: T): T {
  const latest = useRef(functions);
  useEffect(() => {
    latest.current = functions;
  });
  // The ref is read when one of them is called, never while drawing.
  // eslint-disable-next-line react-hooks/refs
  const [steady] = useState(() => {
    const names = Object.keys(functions);
    return Object.fromEntries(names.map((name) => [name, (...given: never[]) => (latest.current as Functions)[name]?.(...given)])) as T;
  });
  return steady;
}
