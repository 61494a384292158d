/** A small highlighter for code in answers: comments, strings, numbers, keywords. It need not be right, only calm and quick. */

export type Ink = "plain" | "comment" | "string" | "number" | "keyword" | "added" | "removed";
export interface Stretch {
  ink: Ink;
  text: string;
}

const C_LIKE = "abstract async await break case catch class const continue default defer delete do else enum export extends false final finally fn for from func function go if impl implements import in instanceof interface let match mod mut namespace new nil null package private protected public pub return self static struct super switch this throw true try type typeof undefined union unsafe use using var virtual void where while yield int long float double bool char string boolean auto";
const PYTHON = "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield self";
const SHELL = "if then else elif fi for while until do done case esac in function return export local set unset exit source";
const SQL = "select from where and or not in insert into values update set delete create table index primary key foreign references join left right inner outer on group by order limit having union all distinct null is as drop alter add";
const words = (text: string) => new Set(text.split(" "));

const HASH = String.raw`#[^\n]*`;
const SLASHES = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const STRINGS = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const TRIPLE = String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)`;
const NUMBER = String.raw`\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b`;
const WORD = String.raw`[A-Za-z_$][\w$]*`;

interface Language {
  pattern: RegExp;
  keywords: Set<string>;
  anyCase?: boolean;
}

function language(comment: string, string: string, keywords: string, anyCase = false): Language {
  return { pattern: new RegExp(`(${comment})|(${string})|(${NUMBER})|(${WORD})`, "g"), keywords: words(keywords), anyCase };
}

const PYTHON_LIKE = language(HASH, `${TRIPLE}|${STRINGS}`, PYTHON);
const CURLY = language(SLASHES, `\`(?:\\\\.|[^\`\\\\])*\`?|${STRINGS}`, C_LIKE);
const HASHED = language(HASH, STRINGS, SHELL);
const QUERY = language(String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`, STRINGS, SQL, true);
const DATA = language(HASH, STRINGS, "true false null yes no");
const MARKUP = language(String.raw`<!--[\s\S]*?(?:-->|$)`, STRINGS, "");

const LANGUAGES: Record<string, Language> = {
  py: PYTHON_LIKE, python: PYTHON_LIKE, python3: PYTHON_LIKE,
  sh: HASHED, bash: HASHED, shell: HASHED, zsh: HASHED, console: HASHED, dockerfile: HASHED, make: HASHED, ruby: HASHED, rb: HASHED,
  sql: QUERY,
  yaml: DATA, yml: DATA, toml: DATA, ini: DATA, json: DATA, jsonc: CURLY,
  html: MARKUP, xml: MARKUP, svg: MARKUP, vue: MARKUP,
  text: DATA, txt: DATA,
};
const PLAIN = new Set(["", "text", "txt", "plain", "markdown", "md"]);

/** Beyond this a text stays plain. */
const LONGEST = 60_000;

export function highlighted(code: string, name: string): Stretch[] {
  const called = name.toLowerCase();
  if (called === "diff" || called === "patch") return diffed(code);
  if (PLAIN.has(called) || code.length > LONGEST) return [{ ink: "plain", text: code }];
  const { pattern, keywords, anyCase } = LANGUAGES[called] ?? CURLY;
  const found: Stretch[] = [];
  let at = 0;
  const add = (ink: Ink, text: string) => {
    const last = found.at(-1);
    if (text === "") return;
    if (last?.ink === ink) last.text += text;
    else found.push({ ink, text });
  };
  for (const match of code.matchAll(pattern)) {
    const [text, comment, string, number] = match;
    add("plain", code.slice(at, match.index));
    const keyword = keywords.has(anyCase === true ? text.toLowerCase() : text);
    add(comment !== undefined ? "comment" : string !== undefined ? "string" : number !== undefined ? "number" : keyword ? "keyword" : "plain", text);
    at = match.index + text.length;
  }
  add("plain", code.slice(at));
  return found;
}

function diffed(code: string): Stretch[] {
  return code.split(/(?<=\n)/).map((text) => ({ ink: text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : "plain", text }));
}
