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

const FOR_PROGRAMS = /\b(GET|POST|PUT|PATCH|DELETE) |\/api\/|`(confirmed|Authorization|Retry-After)|JSON/;

/** Hints speak to programs: what names an address or a header helps nobody who looks at a page. */
export function forPeople(hint: string): string {
  return FOR_PROGRAMS.test(hint) ? "" : hint;
}

export function problemOf(body: unknown, response: Response): ApiProblem {
  const given = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const text = (name: string, otherwise: string) => (typeof given[name] === "string" ? given[name] : otherwise);
  return new ApiProblem(
    text("code", "unexpected"),
    text("detail", `The server answered with ${response.status}.`),
    forPeople(text("hint", "")),
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
