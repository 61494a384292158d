export { TestsPanel } from "./TestsPanel";
export { TestsState } from "./TestsState";
