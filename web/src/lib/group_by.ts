/** The items by a name that each has, in the order of first appearance. */
export function groupBy<T>(items: readonly T[], name: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = name(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups];
}
