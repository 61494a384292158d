/** The directory for a typed name, as the server makes it: "Bob's Project / v2" → "bobs-project-v2". */
export function slug(name: string): string {
  const kept = name.toLowerCase().replace(/[^a-z0-9\s-]/g, "").trim().replace(/\s+/g, "-");
  return kept.replace(/-+/g, "-").replace(/^-|-$/g, "").slice(0, 120).replace(/-$/, "") || "untitled-project";
}

/** What an unnamed project will be called; the four digits are drawn by the server. */
export function idPattern(now: Date = new Date()): string {
  return `${now.toISOString().slice(0, 10).replaceAll("-", "")}-····`;
}
