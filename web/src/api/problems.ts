/** What went wrong, as the server says it. */

export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  constructor(
    /** Switch on this one; the words may change. */
    readonly code: string,
    readonly detail: string,
    /** What to do next. */
    readonly hint: string,
    readonly status: number,
  ) {
    super(detail);
  }
}

/** The server could not be reached at all. */
export function unreachable(): ApiProblem {
  return new ApiProblem("unreachable", "The server does not answer.", "Check that `forge serve` runs; the page connects by itself.", 0);
}

export function problemOf(body: unknown, response: Response): ApiProblem {
  const given = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const text = (name: string, otherwise: string) => (typeof given[name] === "string" ? given[name] : otherwise);
  return new ApiProblem(
    text("code", "unexpected"),
    text("detail", `The server answered with ${response.status}.`),
    text("hint", ""),
    response.status,
  );
}

export function isProblem(error: unknown, code: string): error is ApiProblem {
  return error instanceof ApiProblem && error.code === code;
}

/** Whether nobody is signed in any more. */
export function needsSignIn(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 401;
}
