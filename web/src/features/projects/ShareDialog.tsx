import { useState } from "react";

import { useUsers, type Project } from "@/api";
import { Button, Dialog, ErrorState, Input, Skeleton } from "@/ui";

import { told } from "./problems";
import { useShare, useShares } from "./queries";
import { Select } from "./Select";

/** Who else sees this project, and who may work on it. */
export function ShareDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const shares = useShares(project.id, true);
  const users = useUsers();
  const share = useShare(project.id);
  const [user, setUser] = useState("");
  const [right, setRight] = useState<"read" | "write">("read");
  const nameOf = (id: string) => users.data?.find((each) => each.id === id)?.name ?? id;
  const give = () => user.trim() !== "" && share.mutate({ user: user.trim(), right }, { onSuccess: () => setUser("") });
  return (
    <Dialog open onClose={onClose} title={`Share ${project.name}`} about="Others see it once you share it with them.">
      {shares.isError ? (
        <ErrorState compact error={shares.error} />
      ) : shares.data === undefined ? (
        <Skeleton lines={2} />
      ) : (
        <ul aria-label="Shared with" className="mb-3 divide-y divide-line">
          {Object.entries(shares.data ?? {}).map(([id, granted]) => (
            <li key={id} className="flex items-center gap-2 py-1.5">
              <span className="min-w-0 flex-1 truncate">{nameOf(id)}</span>
              <span className="text-xs text-muted">{granted === "write" ? "may change it" : "may read it"}</span>
              <Button small onClick={() => share.mutate({ user: id, right: null })}>
                Stop sharing
              </Button>
            </li>
          ))}
          {Object.keys(shares.data ?? {}).length === 0 && <li className="py-1.5 text-muted">Only you see it.</li>}
        </ul>
      )}
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          give();
        }}
      >
        <div className="min-w-0 flex-1">
          <Input label="User" value={user} list="forge-users" onChange={(event) => setUser(event.target.value)} />
          <datalist id="forge-users">
            {users.data?.map(({ id, name }) => (
              <option key={id} value={name} />
            ))}
          </datalist>
        </div>
        <Select
          label="Right"
          value={right}
          onChange={(next) => setRight(next === "write" ? "write" : "read")}
          options={[
            { value: "read", label: "May read it" },
            { value: "write", label: "May change it" },
          ]}
        />
        <Button kind="primary" type="submit" disabled={user.trim() === ""} busy={share.isPending}>
          Share
        </Button>
      </form>
      {share.isError && (
        <p role="alert" className="mt-2 text-xs text-bad">
          {told(share.error)}
        </p>
      )}
    </Dialog>
  );
}
