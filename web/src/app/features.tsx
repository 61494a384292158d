/** The features as the shell uses them; each is a separate chunk. */
import { EarlyField } from "./EarlyField";
import { EarlySearch } from "./EarlySearch";
import { lazily } from "./lazily";

const chat = () => import("@/features/chat");
const files = () => import("@/features/files");
const graph = () => import("@/features/graph");
const projects = () => import("@/features/projects");
const tests = () => import("@/features/tests");
const search = () => import("@/features/search");

export const ChatPanel = lazily(async () => (await chat()).ChatPanel);
export const Explorer = lazily(async () => (await files()).Explorer);
export const FileTabs = lazily(async () => (await files()).FileTabs, true);
export const FileView = lazily(async () => (await files()).FileView);
export const EnvironmentStatus = lazily(async () => (await import("@/features/environment")).EnvironmentStatus, true);
export const RepositoryView = lazily(async () => (await graph()).RepositoryView);
export const CommitDetails = lazily(async () => (await graph()).CommitDetails);
export const TimeSlider = lazily(async () => (await graph()).TimeSlider, true);
export const MergeDialog = lazily(async () => (await graph()).MergeDialog, true);
export const ProjectList = lazily(async () => (await projects()).ProjectList);
export const NewProject = lazily(async () => (await projects()).NewProject);
export const ProjectPage = lazily(async () => (await projects()).ProjectPage);
export const TestsPanel = lazily(async () => (await tests()).TestsPanel);
export const TestsState = lazily(async () => (await tests()).TestsState, true);
export const TerminalPanel = lazily(async () => (await import("@/features/terminal")).TerminalPanel);
export const BoardScreen = lazily(async () => (await import("@/features/board")).BoardScreen);
export const SettingsScreen = lazily(async () => (await import("@/features/settings")).SettingsScreen);
export const QuickOpen = lazily(
  async () => (await search()).QuickOpen,
  ({ typed, onTyped, onClose, onEnter }) => <EarlyField typed={typed} onTyped={onTyped} onClose={onClose} onEnter={onEnter} label="File to open" className="top-[10vh] w-[calc(100vw-32px)] max-w-160" />,
);
export const SearchPanel = lazily(
  async () => (await search()).SearchPanel,
  ({ repo, onEarly }) => <EarlySearch repo={repo} onEarly={onEarly} />,
);
