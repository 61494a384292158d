export { CommitDetails } from "./CommitDetails";
export { MergeDialog } from "./MergeDialog";
export { RepositoryView } from "./RepositoryView";
export { TimeSlider } from "./TimeSlider";
