/** Names of branches, as a person types them. */

/** What git would refuse, told while typing. The server has the last word. */
export function nameProblem(name: string): string | undefined {
  if (/\s/.test(name)) return "A name has no spaces; use - instead.";
  if (/[~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock$/.test(name)) return "Git does not allow such a name.";
  return undefined;
}

/** The first free one of ai/first, ai/first-2, … */
export function freeName(wanted: string, taken: readonly string[]): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}-${i}`;
    if (!taken.includes(name)) return name;
  }
}
