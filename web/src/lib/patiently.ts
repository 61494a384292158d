const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;

/** Loads a part of the program, again and again while the server is away: what waits for it continues when it is back. */
export async function patiently<T>(load: () => Promise<T>, pause = FIRST_PAUSE): Promise<T> {
  for (let wait = pause; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
