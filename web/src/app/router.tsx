/** The addresses with their screens. */
import * as routes from "./routes";
import * as screens from "./screens";
import { Shell } from "./Shell";
import { Broken, Missing } from "./Trouble";

routes.root.update({ component: Shell, notFoundComponent: Missing, errorComponent: Broken });
routes.home.update({ component: screens.Home, errorComponent: Broken });
routes.repository.update({ component: screens.Repository, errorComponent: Broken });
routes.branch.update({ component: screens.Branch, errorComponent: Broken });
routes.commit.update({ component: screens.Commit, errorComponent: Broken });
routes.projects.update({ component: screens.Projects, errorComponent: Broken });
routes.newProject.update({ component: screens.NewProject, errorComponent: Broken });
routes.project.update({ component: screens.Project, errorComponent: Broken });
routes.board.update({ component: screens.Board, errorComponent: Broken });
routes.settings.update({ component: screens.Settings, errorComponent: Broken });

export { newRouter } from "./routes";
