import { Download, FileQuestion } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { byteSize } from "@/lib/format";
import { EmptyState } from "@/ui";

const PICTURES: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  svg: "image/svg+xml",
};

export function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1).toLowerCase() : "";
}

export function pictureType(path: string): string | undefined {
  return PICTURES[endingOf(path)];
}

export function isMarkdown(path: string): boolean {
  return ["md", "markdown", "mdx"].includes(endingOf(path));
}

/** As a picture, where nothing in it can run. */
export function Picture({ path, bytes }: { path: string; bytes: Uint8Array<ArrayBuffer> }) {
  const picture = useRef<HTMLImageElement>(null);
  const [size, setSize] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type: pictureType(path) ?? "" }));
    if (picture.current !== null) picture.current.src = made;
    return () => URL.revokeObjectURL(made);
  }, [path, bytes]);
  return (
    <figure className="flex h-full min-h-0 flex-col items-center justify-center gap-3 overflow-auto p-6">
      <img
        ref={picture}
        alt={path}
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setSize(`${naturalWidth} × ${naturalHeight} · `)}
        className="min-h-0 max-w-full rounded-md border border-line object-contain"
      />
      <figcaption className="text-xs text-muted">
        {size}
        {byteSize(bytes.length)}
      </figcaption>
    </figure>
  );
}

export function BinaryNotice({ name, size, address }: { name: string; size: number; address: string }) {
  return (
    <EmptyState
      icon={FileQuestion}
      title="Not text"
      action={
        <a href={address} download={name} className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line px-3 font-medium hover:bg-surface-2">
          <Download aria-hidden size={15} />
          Download {name}
        </a>
      }
    >
      {name} has {byteSize(size)} that are not text, so there is nothing to edit here.
    </EmptyState>
  );
}
