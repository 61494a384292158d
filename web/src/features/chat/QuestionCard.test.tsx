import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import type { Question } from "@/api";
import { answering, renderApp } from "@/testing/render";

import { QuestionCard } from "./QuestionCard";

const QUESTION: Question = {
  id: "q1", run: "r1", text: "Which colour?", context: "", kind: "choice", options: ["red", "blue"], state: "open",
  asked: 1, expires: null, project: null, repository: "0a1b2c3d4e5f", branch: "main",
};

test("a choice is answered by one of its options and nothing else", async () => {
  const asked = answering({ "POST /api/questions/q1/answer": { question: "q1", counted: true } });
  const answered = vi.fn();
  await renderApp(<QuestionCard question={QUESTION} onAnswered={answered} />);
  expect(screen.queryByLabelText("Your answer")).toBeNull();
  expect(screen.getAllByRole("button").map((each) => each.textContent)).toEqual(["red", "blue"]);
  await userEvent.click(screen.getByRole("button", { name: "blue" }));
  expect(asked.at(-1)?.body).toEqual({ text: "blue" });
  await vi.waitFor(() => expect(answered).toHaveBeenCalled());
});

test("other questions take words too", async () => {
  await renderApp(<QuestionCard question={{ ...QUESTION, kind: "text" }} onAnswered={() => {}} />);
  expect(screen.getByLabelText("Your answer")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Let AI decide" })).toBeTruthy();
});
