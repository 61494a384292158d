export { TerminalPanel } from "./TerminalPanel";
