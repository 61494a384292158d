export { EnvironmentStatus } from "./EnvironmentStatus";
