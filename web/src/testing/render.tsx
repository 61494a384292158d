/** Renders with what every component may count on: queries, commands, tooltips, and a router that takes any address. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { render, type RenderResult } from "@testing-library/react";
import type { ReactNode } from "react";
import { vi } from "vitest";

import { Commands, CommandsContext } from "@/lib/commands";
import { TooltipProvider } from "@/ui";

export interface Rendered extends RenderResult {
  commands: Commands;
  client: QueryClient;
  /** The address now, as far as the router knows. */
  address: () => string;
}

export async function renderApp(element: ReactNode, address = "/"): Promise<Rendered> {
  const commands = new Commands();
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const root = createRootRoute({ component: () => element, notFoundComponent: () => element });
  const router = createRouter({ routeTree: root, history: createMemoryHistory({ initialEntries: [address] }) });
  await router.load();
  const result = render(
    <QueryClientProvider client={client}>
      <CommandsContext value={commands}>
        <TooltipProvider>
          <RouterProvider router={router as never} />
        </TooltipProvider>
      </CommandsContext>
    </QueryClientProvider>,
  );
  return { ...result, commands, client, address: () => router.state.location.href };
}

/** Answers by "METHOD /path" (without the query); a function gets the request. What is not there is a 404. */
export type Answers = Record<string, unknown>;

export function answering(answers: Answers) {
  const asked: { method: string; url: URL; body: unknown }[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input instanceof Request ? input : new URL(String(input), location.href), init);
    const url = new URL(request.url);
    const text = await request.clone().text();
    asked.push({ method: request.method, url, body: text === "" ? undefined : parsed(text) });
    const found = answers[`${request.method} ${decodeURIComponent(url.pathname)}`];
    const value: unknown = typeof found === "function" ? await (found as (r: Request) => unknown)(request) : found;
    if (value instanceof Response) return value.clone();
    if (value === undefined) return Response.json({ code: "missing", detail: `Nothing at ${url.pathname}.`, hint: "", status: 404 }, { status: 404 });
    return Response.json(value);
  });
  return asked;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
