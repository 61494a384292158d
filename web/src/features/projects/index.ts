export { NewProject } from "./NewProject";
export { ProjectList } from "./ProjectList";
export { ProjectPage } from "./ProjectPage";
