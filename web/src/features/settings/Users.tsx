import { useState } from "react";

import { useAddUser, useDisableUser, useUsers } from "@/api";
import { Button, Confirm, ErrorState, Input, RelativeTime, Skeleton } from "@/ui";

import { Part } from "./Part";
import { useAuditAnew } from "./queries";
import { told } from "./words";

export function Users() {
  const { data, error, refetch } = useUsers();
  const add = useAddUser();
  const disable = useDisableUser();
  const auditAnew = useAuditAnew();
  const [name, setName] = useState("");
  const [leaving, setLeaving] = useState<{ id: string; name: string } | null>(null);
  return (
    <Part title="Users" about="Each sees what is theirs and what is shared with them. A key lets them in.">
      {data === undefined && (error === null ? <Skeleton lines={2} /> : <ErrorState compact error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && <p className="px-4 py-3 text-muted">Only you. Add a user to share this server.</p>}
      {data?.map((user) => (
        <div key={user.id} role="group" aria-label={user.name} className="flex items-center gap-4 px-4 py-2.5">
          <span className="min-w-0 flex-1 truncate font-medium">{user.name}</span>
          <span className="text-xs text-muted">
            {user.disabled === null ? "since " : "disabled "}
            <RelativeTime time={user.disabled ?? user.created} />
          </span>
          {user.disabled === null && (
            <Button small aria-label={`Disable ${user.name}`} onClick={() => setLeaving(user)}>
              Disable
            </Button>
          )}
        </div>
      ))}
      <form
        className="flex items-start gap-2 px-4 py-3"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(name.trim(), {
            onSuccess: () => {
              setName("");
              auditAnew();
            },
          });
        }}
      >
        <Input aria-label="Name of a new user" placeholder="Name" className="w-60!" value={name} problem={add.isError ? told(add.error) : undefined} onChange={(event) => setName(event.target.value)} />
        <Button type="submit" disabled={name.trim() === ""} busy={add.isPending}>
          Add user
        </Button>
      </form>
      <Confirm
        open={leaving !== null}
        onClose={() => setLeaving(null)}
        title={`Disable ${leaving?.name ?? ""}?`}
        about="All their keys stop working at once. What is theirs stays theirs. This cannot be taken back here."
        action={`Disable ${leaving?.name ?? ""}`}
        onConfirm={() => leaving !== null && disable.mutateAsync(leaving.id, { onSuccess: auditAnew })}
      />
    </Part>
  );
}
