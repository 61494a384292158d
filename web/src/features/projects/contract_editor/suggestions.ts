/** What a JSON Schema allows at a place of a document: keys, those that are needed first, and values. */
import type { Place, Step } from "./place";

export interface Schema {
  type?: string | readonly string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  enum?: readonly unknown[];
  const?: unknown;
  examples?: readonly unknown[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

export type Kind = "object" | "array" | "text" | "other";

export interface Suggestion {
  label: string;
  slot: "key" | "value";
  /** What the value of a key is, or what a value is itself. */
  kind: Kind;
  isRequired: boolean;
  description: string;
}

export function suggestions(schema: Schema, place: Place): Suggestion[] {
  const found = schemaAt(schema, place.path);
  if (found === null) return [];
  if (place.slot === "value") return values(found);
  const keys = Object.entries(found.properties ?? {}).filter(([name]) => !place.present.includes(name));
  const isRequired = (name: string) => found.required?.includes(name) === true;
  const all = keys.map(([name, of]) => keyed(schema, name, of, isRequired(name)));
  // An item of a list begins where a key would.
  return all.length === 0 && place.column !== null ? values(found) : [...all.filter((each) => each.isRequired), ...all.filter((each) => !each.isRequired)];
}

/** Null where the schema says nothing about the place. */
export function schemaAt(schema: Schema, path: readonly Step[]): Schema | null {
  let found: Schema | null = schema;
  for (const step of path) {
    found = below(resolved(schema, found), step);
    if (found === null) return null;
  }
  return resolved(schema, found);
}

function below(schema: Schema, step: Step): Schema | null {
  if (typeof step === "number") return schema.items ?? null;
  const own = schema.properties?.[step];
  if (own !== undefined) return own;
  return typeof schema.additionalProperties === "object" ? schema.additionalProperties : null;
}

/** With what it refers to; a word of its own comes before the other's. */
function resolved(root: Schema, schema: Schema): Schema {
  const name = schema.$ref?.replace("#/$defs/", "");
  const other = name === undefined ? undefined : root.$defs?.[name];
  return other === undefined ? schema : { ...other, ...schema };
}

function keyed(root: Schema, label: string, of: Schema, isRequired: boolean): Suggestion {
  const value = resolved(root, of);
  return { label, slot: "key", kind: kindOf(value), isRequired, description: value.description ?? "" };
}

function values(schema: Schema): Suggestion[] {
  const types = typesOf(schema);
  const given = schema.const === undefined ? [...(schema.enum ?? []), ...(schema.examples ?? [])] : [schema.const];
  const known = [...given, ...(types.includes("boolean") ? [true, false] : []), ...(types.includes("null") ? [null] : [])];
  return known.map((value) => ({
    label: String(value),
    slot: "value",
    kind: typeof value === "string" ? "text" : "other",
    isRequired: false,
    description: schema.description ?? "",
  }));
}

function kindOf(schema: Schema): Kind {
  const types = typesOf(schema);
  if (types.includes("object") || schema.properties !== undefined) return "object";
  if (types.includes("array")) return "array";
  return types.includes("string") || schema.enum?.every((each) => typeof each === "string") === true ? "text" : "other";
}

function typesOf({ type }: Schema): readonly string[] {
  return type === undefined ? [] : typeof type === "string" ? [type] : type;
}
