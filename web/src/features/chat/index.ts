export { ChatPanel } from "./ChatPanel";
