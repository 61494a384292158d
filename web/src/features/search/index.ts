export { QuickOpen } from "./QuickOpen";
export { SearchPanel } from "./SearchPanel";
