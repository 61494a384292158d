/** The one way to the server: typed by its own document. The browser sends the cookie; no token is in the page. */
import createClient from "openapi-fetch";

import { noticeKeptEdits } from "./kept_edits";
import { ApiProblem, problemOf, unreachable } from "./problems";
import type { components, paths } from "./schema";

export type Shapes = components["schemas"];

const reached: typeof fetch = async (input, init) => {
  try {
    return await fetch(input, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
};

/** `await answer(api.GET("/api/board"))` */
export const api = createClient<paths>({
  baseUrl: typeof location === "undefined" ? "http://localhost" : location.origin,
  credentials: "same-origin",
  fetch: (request) => reached(request),
});

type Answer<T> = Promise<{ data?: T; error?: unknown; response: Response }>;
/** Lists are documented as a page or as lines of text; without asking for lines, it is the page. */
type Given<T> = [Extract<T, object>] extends [never] ? NonNullable<T> : Extract<T, object>;

/** What was asked for, or an `ApiProblem`. */
export async function answer<T>(asked: Answer<T>): Promise<Given<T>> {
  return (await answerWithResponse(asked)).data;
}

/** The same with the response, for its headers (ETag). */
export async function answerWithResponse<T>(asked: Answer<T>): Promise<{ data: Given<T>; response: Response }> {
  const kept = await asked;
  if (!kept.response.ok) throw problemOf(kept.error, kept.response);
  noticeKeptEdits(kept.data);
  return { data: kept.data as Given<T>, response: kept.response };
}

/** Where a file's bytes are, for links and pictures. */
export function fileAddress(repo: string, path: string, place: { branch?: string | undefined; at?: string | undefined }): string {
  const query = new URLSearchParams(place.at === undefined ? { branch: place.branch ?? "" } : { at: place.at });
  return `/api/repositories/${repo}/files/${path.split("/").map(encodeURIComponent).join("/")}?${query.toString()}`;
}

/** A whole list, one item a line, as it comes; `onItems` gets them in bunches. */
export async function streamed<T>(address: string, onItems: (items: T[]) => void, signal?: AbortSignal): Promise<void> {
  const response = await reached(address, { headers: { Accept: "application/x-ndjson" }, ...(signal && { signal }) });
  if (!response.ok) throw problemOf(await response.json().catch(() => null), response);
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + (value ?? "")).split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    const items = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T | { problem: Shapes["Problem"] });
    const last = items.at(-1);
    if (isBroken(last)) throw new ApiProblem(last.problem.code, last.problem.detail, last.problem.hint, last.problem.status);
    if (items.length > 0) onItems(items as T[]);
    if (done) return;
  }
}

function isBroken(item: unknown): item is { problem: ApiProblem } {
  return typeof item === "object" && item !== null && "problem" in item && typeof item.problem === "object";
}

/** Sends bytes with their progress (0 to 1), which fetch cannot tell. */
export function upload<T>(address: string, form: FormData, onProgress: (share: number) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && onProgress(event.loaded / event.total);
    request.onerror = () => reject(unreachable());
    request.onload = () => {
      const ok = request.status >= 200 && request.status < 300;
      if (ok) resolve(request.response as T);
      else reject(problemOf(request.response, new Response(null, { status: request.status })));
    };
    request.send(form);
  });
}

