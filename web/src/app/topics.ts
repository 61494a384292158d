/** The shell listens to what is on screen, so that answers go stale when something happens to it. */
import { useEffect } from "react";

import { stream, topicOf } from "@/api";

import { useHere } from "./here";
import { useOpenBranches } from "./open_branches";

const quiet = () => undefined;
const MOST = 40;

export function useTopics(): void {
  const { repo, project } = useHere();
  const [open] = useOpenBranches(repo ?? "");
  const wanted = [
    topicOf.board,
    ...(project === undefined ? [] : [topicOf.project(project)]),
    ...(repo === undefined ? [] : open.slice(-MOST).map((branch) => topicOf.branch(repo, branch))),
  ].join("\n");
  useEffect(() => {
    const ends = wanted.split("\n").map((topic) => stream.hear(topic, quiet));
    return () => ends.forEach((end) => end());
  }, [wanted]);
}
