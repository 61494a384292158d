/** Each address's screen: reads the address and hands values to a feature. */
import { CommitDetails, ProjectPage, RepositoryView, SettingsScreen } from "./features";
import * as routes from "./routes";
import { Workspace } from "./Workspace";

export { BoardScreen as Board, NewProject, ProjectList as Projects } from "./features";
export { Home } from "./Home";

export function Repository() {
  const { repo } = routes.repository.useParams();
  return <RepositoryView key={repo} repo={repo} />;
}

export function Branch() {
  const params = routes.branch.useParams();
  return <Workspace key={`${params.repo} ${params.branch}`} {...params} {...routes.branch.useSearch()} />;
}

export function Commit() {
  return <CommitDetails {...routes.commit.useParams()} />;
}

export function Project() {
  const { id } = routes.project.useParams();
  const { tab = "chat" } = routes.project.useSearch();
  return <ProjectPage key={id} id={id} tab={tab} />;
}

export function Settings() {
  return <SettingsScreen {...routes.settings.useParams()} />;
}
