/** The editor for contracts: its code comes when it is needed. */
import { lazy, Suspense } from "react";

import { patiently } from "@/lib/patiently";
import { Skeleton } from "@/ui";

import type { ContractType } from "../contract_queries";
import type { CodeHandle, ContractCodeProps } from "./ContractCode";

const Code = lazy(() => patiently(() => import("./ContractCode")));

export type { CodeHandle };

export function ContractCode({ type, ...props }: Omit<ContractCodeProps, "file"> & { type: ContractType }) {
  return (
    <Suspense fallback={<Skeleton lines={8} label="Loading the editor" />}>
      <Code {...props} file={fileOf(type)} />
    </Suspense>
  );
}

function fileOf(type: ContractType): string {
  return `${type}.${type === "physics" ? "yaml" : type === "boundaries" ? "json" : "md"}`;
}
