/** A message on its way: what it needs first, and what this browser remembers of it until its turn is in the branch. */
import { useMutation } from "@tanstack/react-query";

import { answer, api, isProblem, useMoved } from "@/api";
import { useStored, writeStored } from "@/lib/stored";
import { askBeforeTurn } from "@/lib/unsaved";

/** The server tells of a turn without the words that it began with. */
export interface SentMessage {
  mark: string;
  text: string;
  model: string;
  /** Events of the turn have larger ids. */
  after: number;
  time: number;
}

const sentKey = (repo: string, branch: string) => `chat:sent:${repo}:${branch}`;

export function useSentMessage(repo: string, branch: string) {
  return useStored<SentMessage | null>(sentKey(repo, branch), null);
}

const NO_QUEUE: string[] = [];

/** Messages that were written while a turn was under way. */
export function useQueue(repo: string, branch: string) {
  return useStored<string[]>(`chat:queue:${repo}:${branch}`, NO_QUEUE);
}

export function useDraft(repo: string, branch: string) {
  return useStored<string>(`draft:chat:${repo}:${branch}`, "");
}

export interface Answerer {
  model?: string;
  agent?: string;
}

export interface Order {
  text: string;
  answerer: Answerer;
  /** Files to take into the context first. */
  mentions: string[];
  /** Make this branch first, from where it says. */
  fresh?: { name: string; start: Start };
}

/** After a turn, or as a branch or commit is. */
export type Start = { turn: string } | { rev: string; conversation: boolean };

/** The person did not want to continue; nothing was done. */
export class Withheld extends Error {}

async function makeBranch(repository: string, branch: string, name: string, start: Start): Promise<void> {
  const params = { path: { repository } };
  if ("turn" in start) {
    const body = { turn: start.turn, name };
    await answer(api.POST("/api/repositories/{repository}/session/fork", { params: { ...params, query: { branch } }, body }));
  } else {
    const body = { name, start: start.rev, conversation: start.conversation };
    await answer(api.POST("/api/repositories/{repository}/branches", { params, body }));
  }
}

async function takeIn(repository: string, branch: string, paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  const body = { add: paths.map((path) => ({ path, ranges: [] })), remove: [] };
  await answer(api.PATCH("/api/repositories/{repository}/session/context", { params: { path: { repository }, query: { branch } }, body }));
}

/** A turn that has just ended holds its branch for a moment longer. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let left = 5; ; left--) {
    try {
      return await ask();
    } catch (error) {
      if (left === 0 || !isProblem(error, "branch_busy")) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

async function send(repository: string, branch: string, order: Order): Promise<string> {
  if ((await askBeforeTurn({ repo: repository, branch })) === "cancel") throw new Withheld();
  const target = order.fresh?.name ?? branch;
  if (order.fresh) await makeBranch(repository, branch, order.fresh.name, order.fresh.start);
  await takeIn(repository, target, order.mentions);
  const body = { text: order.text, model: order.answerer.model ?? null, agent: order.answerer.agent ?? null };
  const sent = await patiently(() =>
    answer(api.POST("/api/repositories/{repository}/session/messages", { params: { path: { repository }, query: { branch: target } }, body })),
  );
  const kept: SentMessage = {
    mark: sent.run.replace(/^turn-/, ""),
    text: order.text,
    model: sent.model,
    after: sent.after,
    time: Date.now() / 1000,
  };
  writeStored(sentKey(repository, target), kept);
  return target;
}

/** Gives the branch on which the turn began. */
export function useSend(repo: string, branch: string) {
  const moved = useMoved(repo);
  return useMutation({ mutationFn: (order: Order) => send(repo, branch, order), onSuccess: () => void moved() });
}
