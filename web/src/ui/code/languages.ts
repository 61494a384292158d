/** Languages by the ending of the name; each is fetched when the first file of its kind is opened. */
import { StreamLanguage, type LanguageSupport, type StreamParser } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

type Load = () => Promise<Extension | LanguageSupport>;

const stream = (parser: Promise<StreamParser<unknown>>) => parser.then((found) => StreamLanguage.define(found));
const script = (options: { jsx?: boolean; typescript?: boolean }): Load =>
  async () => (await import("@codemirror/lang-javascript")).javascript(options);
const clike = (name: "csharp" | "kotlin" | "scala" | "dart"): Load =>
  () => stream(import("@codemirror/legacy-modes/mode/clike").then((found) => found[name]));

const html: Load = async () => (await import("@codemirror/lang-html")).html();
const css: Load = async () => (await import("@codemirror/lang-css")).css();
const python: Load = async () => (await import("@codemirror/lang-python")).python();
const cpp: Load = async () => (await import("@codemirror/lang-cpp")).cpp();
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const yaml: Load = async () => (await import("@codemirror/lang-yaml")).yaml();
const xml: Load = async () => (await import("@codemirror/lang-xml")).xml();
const markdown: Load = async () => (await import("@codemirror/lang-markdown")).markdown();
const shell: Load = () => stream(import("@codemirror/legacy-modes/mode/shell").then((found) => found.shell));
const toml: Load = () => stream(import("@codemirror/legacy-modes/mode/toml").then((found) => found.toml));
const settings: Load = () => stream(import("@codemirror/legacy-modes/mode/properties").then((found) => found.properties));
const docker: Load = () => stream(import("@codemirror/legacy-modes/mode/dockerfile").then((found) => found.dockerFile));
const ruby: Load = () => stream(import("@codemirror/legacy-modes/mode/ruby").then((found) => found.ruby));
const diff: Load = () => stream(import("@codemirror/legacy-modes/mode/diff").then((found) => found.diff));

const ENDINGS: Record<string, Load> = {
  js: script({ jsx: true }), jsx: script({ jsx: true }), mjs: script({}), cjs: script({}),
  ts: script({ typescript: true }), mts: script({ typescript: true }), cts: script({ typescript: true }), tsx: script({ jsx: true, typescript: true }),
  py: python, pyi: python,
  rs: async () => (await import("@codemirror/lang-rust")).rust(),
  go: async () => (await import("@codemirror/lang-go")).go(),
  java: async () => (await import("@codemirror/lang-java")).java(),
  c: cpp, h: cpp, cc: cpp, cpp, cxx: cpp, hpp: cpp, hh: cpp,
  html, htm: html, vue: html, svelte: html,
  css, scss: css, less: css,
  json, jsonc: json, ipynb: json,
  yaml, yml: yaml,
  md: markdown, markdown, mdx: markdown,
  sql: async () => (await import("@codemirror/lang-sql")).sql(),
  php: async () => (await import("@codemirror/lang-php")).php(),
  xml, svg: xml, plist: xml,
  sh: shell, bash: shell, zsh: shell, fish: shell,
  toml, lock: toml,
  ini: settings, cfg: settings, conf: settings, env: settings, properties: settings,
  rb: ruby, rake: ruby,
  cs: clike("csharp"), kt: clike("kotlin"), kts: clike("kotlin"), scala: clike("scala"), dart: clike("dart"),
  diff, patch: diff,
  lua: () => stream(import("@codemirror/legacy-modes/mode/lua").then((found) => found.lua)),
  swift: () => stream(import("@codemirror/legacy-modes/mode/swift").then((found) => found.swift)),
  pl: () => stream(import("@codemirror/legacy-modes/mode/perl").then((found) => found.perl)),
  r: () => stream(import("@codemirror/legacy-modes/mode/r").then((found) => found.r)),
};
const NAMES: Record<string, Load> = { dockerfile: docker, gemfile: ruby, rakefile: ruby, ".bashrc": shell, ".profile": shell, ".env": settings, ".editorconfig": settings };

/** Null where it is shown as plain text. */
export async function languageOf(path: string): Promise<Extension | null> {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const load = NAMES[name] ?? ENDINGS[name.slice(name.lastIndexOf(".") + 1)];
  return load === undefined ? null : load();
}
