export * from "./environments";
export * from "./files";
export * from "./history";
export * from "./house";
export * from "./projects";
export * from "./repositories";
export * from "./sessions";
export * from "./tests";
