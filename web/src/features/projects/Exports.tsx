import { Download } from "lucide-react";

import { Button, Menu, toast } from "@/ui";

import { told } from "./problems";

export function exportAddress(project: string, name: string): string {
  return `/api/projects/${project}/explore/exports/${encodeURIComponent(name)}`;
}

function save(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

/** The picture drawn by this browser, twice as large, so that it is sharp on paper. */
async function savePng(project: string, view: string): Promise<void> {
  const image = new Image();
  image.src = exportAddress(project, `${view}.svg`);
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * 2, image.naturalHeight * 2];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (png === null) throw new Error("The picture is too large for a PNG. Take the SVG.");
  const made = URL.createObjectURL(png);
  save(made, `${view}.png`);
  setTimeout(() => URL.revokeObjectURL(made), 10_000);
}

const PICTURES = [
  ["matrix", "Impact × confidence"],
  ["tree", "Tree"],
  ["dependencies", "Dependencies"],
] as const;

/** The register as a table, and its views as pictures. */
export function RegisterExport({ project }: { project: string }) {
  const take = (name: string) => () => save(exportAddress(project, name), name);
  const draw = (view: string) => () => void savePng(project, view).catch((error: unknown) => toast({ text: told(error), meaning: "bad" }));
  return (
    <Menu
      align="end"
      entries={[
        { label: "Register as CSV", onSelect: take("assumptions.csv") },
        { label: "Register as Markdown", onSelect: take("assumptions.md") },
        null,
        ...PICTURES.flatMap(([view, title]) => [
          { label: `${title} as SVG`, onSelect: take(`${view}.svg`) },
          { label: `${title} as PNG`, onSelect: draw(view) },
        ]),
      ]}
    >
      <Button small icon={Download}>
        Export
      </Button>
    </Menu>
  );
}
