import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { render, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";

import { newQueryClient } from "@/api";
import { Commands, CommandsContext } from "@/lib/commands";
import { answering, type Answers } from "@/testing/render";
import { Toasts, TooltipProvider } from "@/ui";

import { freeName, nameProblem } from "./branch_names";
import { afterClosing } from "./open_branches";
import { newRouter } from "./router";
import { tokenOf } from "./SignIn";

const REPO = { id: "r1", name: "garden", path: "/home/ada/garden", default_branch: "main", current_branch: "main", problem: null };
const branch = (name: string, more = {}) => ({
  name, commit: "c".repeat(40), subject: "first", author: "Ada", time: 1, is_default: name === "main",
  protected: name === "main", checked_out: false, ai: name.startsWith("ai/"), busy: null, ...more,
});
const USUAL: Answers = {
  "GET /api/sign-in": { id: "local", name: "you", scopes: ["admin"], key: null },
  "GET /api/repositories": { repositories: [REPO] },
  "GET /api/repositories/r1/branches": { items: [branch("main"), branch("ai/one")], next: null },
  "GET /api/repositories/r1/sessions": { sessions: [] },
  "GET /api/projects": { items: [], next: null },
  "GET /api/questions": { questions: [] },
  "GET /api/events": { items: [], next: 0 },
};

function show(address: string, answers: Answers = USUAL) {
  const asked = answering(answers);
  const router = newRouter(createMemoryHistory({ initialEntries: [address] }));
  render(
    <QueryClientProvider client={newQueryClient()}>
      <CommandsContext value={new Commands()}>
        <TooltipProvider>
          <RouterProvider router={router} />
          <Toasts />
        </TooltipProvider>
      </CommandsContext>
    </QueryClientProvider>,
  );
  return { asked, router, user: userEvent.setup() };
}

beforeEach(() => {
  vi.stubGlobal("WebSocket", class { close() {} });
});

test("who is not signed in is told how to, and may paste the whole address", async () => {
  const refused = () => Response.json({ code: "sign_in_needed", detail: "Nobody is signed in.", hint: "" }, { status: 401 });
  const { asked, user } = show("/", { "GET /api/sign-in": refused, "POST /api/sign-in": { id: "local" } });
  await user.click(await screen.findByLabelText("Address, token or key"));
  await user.paste("http://127.0.0.1:3000/?token=12.ab");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  expect(asked.find((each) => each.method === "POST")?.body).toEqual({ token: "12.ab" });
});

test("the side panel lists repositories with their branches, and a branch opens as a tab", async () => {
  const { router, user } = show("/");
  const list = await screen.findByRole("list", { name: "Branches of garden" });
  await user.click(within(list).getByRole("link", { name: /ai\/one/ }));
  expect(router.state.location.pathname).toBe("/r/r1/b/ai%2Fone");
  const tabs = await screen.findByRole("navigation", { name: "Open branches" });
  expect(within(tabs).getByRole("link", { name: /ai\/one/ })).toHaveAttribute("aria-current", "page");
});

test("the palette runs what is typed and remembers it", async () => {
  const { router, user } = show("/");
  await screen.findByRole("list", { name: "Branches of garden" });
  await user.keyboard("{Control>}k{/Control}");
  await user.click(await screen.findByPlaceholderText("What do you want to do?"));
  await user.paste("to the board");
  await user.keyboard("{Enter}");
  await vi.waitFor(() => expect(router.state.location.pathname).toBe("/board"));
  await user.keyboard("{Control>}k{/Control}");
  expect(await screen.findByText("Used lately")).toBeVisible();
});

test("a deleted branch can be brought back", async () => {
  const { asked, user } = show("/", {
    ...USUAL,
    "DELETE /api/repositories/r1/branches/ai/one": { name: "ai/one", commit: null, operation: "op1" },
    "POST /api/repositories/r1/operations/op1/undo": { id: "op2" },
  });
  (await screen.findByRole("button", { name: "Actions for ai/one" })).focus();
  await user.keyboard("{Enter}");
  await user.click(await screen.findByRole("menuitem", { name: "Delete" }));
  await user.click(await screen.findByRole("button", { name: "Delete ai/one" }));
  await user.click(await screen.findByRole("button", { name: "Undo" }));
  await vi.waitFor(() => expect(asked.some((each) => each.url.pathname.endsWith("/operations/op1/undo"))).toBe(true));
});

test("an address that leads nowhere says so", async () => {
  show("/nowhere/at/all");
  expect(await screen.findByText("Nothing is here")).toBeVisible();
});

test("names and tokens are read as people write them", () => {
  expect(tokenOf(" http://x/?token=1.a ")).toBe("1.a");
  expect(tokenOf("fk_1")).toBe("fk_1");
  expect(nameProblem("a b")).toMatch(/spaces/);
  expect(nameProblem("a..b")).toMatch(/Git/);
  expect(nameProblem("ai/fine-1.2")).toBeUndefined();
  expect(freeName("ai/x", ["ai/x", "ai/x-2"])).toBe("ai/x-3");
  expect(afterClosing(["a", "b", "c"], "b")).toBe("c");
  expect(afterClosing(["a"], "a")).toBeUndefined();
});
