export { Explorer } from "./Explorer";
export { FileTabs } from "./FileTabs";
export { FileView } from "./FileView";
