import { useState } from "react";

import { useAudit, useIsAdmin, useSignOut, useWho } from "@/api";
import { Button, Confirm, ErrorState, InlineCode, RelativeTime, Skeleton } from "@/ui";

import { AccessKeys } from "./AccessKeys";
import { Part } from "./Part";
import { Users } from "./Users";

export function Access() {
  const who = useWho();
  const signOut = useSignOut();
  const [leaving, setLeaving] = useState(false);
  const isAdmin = useIsAdmin() === true;
  return (
    <>
      <Part title="This browser" about={who.data === undefined ? undefined : `Signed in as ${who.data.name}: may ${[...who.data.scopes].sort().join(", ")}.`}>
        <div className="flex items-center gap-4 px-4 py-3">
          <span className="flex-1 text-muted">
            <InlineCode text="To come back, use the address that `forge serve` prints, or a key." />
          </span>
          <Button small onClick={() => setLeaving(true)}>
            Sign out
          </Button>
        </div>
      </Part>
      {isAdmin && <Users />}
      <AccessKeys />
      {isAdmin && <Audit />}
      <Confirm open={leaving} onClose={() => setLeaving(false)} title="Sign out of this browser?" about="Drafts stay here. Work on the server continues." action="Sign out" danger={false} onConfirm={() => signOut.mutateAsync()} />
    </>
  );
}

function Audit() {
  const { data, error, refetch } = useAudit();
  return (
    <Part title="Audit" about="Who did what, newest first; the last 200.">
      {data === undefined && (error === null ? <Skeleton /> : <ErrorState compact error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && <p className="px-4 py-3 text-muted">Nothing yet: changes of settings, keys, users and shares are listed here.</p>}
      {data !== undefined && data.length > 0 && (
        // It scrolls, so the keyboard has to reach it.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div role="region" aria-label="Audit list" tabIndex={0} className="focus-inset max-h-90 overflow-auto">
          <table className="w-full text-left">
            <thead className="sticky top-0 bg-surface-1 text-xs text-muted">
              <tr>
                {["When", "Who", "What", "On"].map((head) => (
                  <th key={head} scope="col" className="px-4 py-1.5 font-medium">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.map((deed) => (
                <tr key={deed.id} className="border-t border-line align-top">
                  <td className="px-4 py-1.5 text-xs text-muted">
                    <RelativeTime time={deed.time} />
                  </td>
                  <td className="px-4 py-1.5">{deed.user}</td>
                  <td className="px-4 py-1.5">{deed.action}</td>
                  <td className="px-4 py-1.5 break-all text-muted">
                    {deed.subject} {deed.detail}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}
