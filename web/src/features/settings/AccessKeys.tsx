import { useState } from "react";

import { useKeys, useRevokeKey, type Shapes } from "@/api";
import { Badge, Button, Confirm, ErrorState, RelativeTime, Skeleton } from "@/ui";

import { NewKeyDialog } from "./NewKeyDialog";
import { Part } from "./Part";
import { useAuditAnew } from "./queries";

type Key = Shapes["KeyShape"];

export function AccessKeys() {
  const { data, error, refetch } = useKeys();
  const revoke = useRevokeKey();
  const auditAnew = useAuditAnew();
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState<Key | null>(null);
  return (
    <Part
      title="Keys"
      about="For people and programs that reach this server. A key is shown once, when it is made."
      aside={
        <Button small onClick={() => setMaking(true)}>
          New key
        </Button>
      }
    >
      {data === undefined && (error === null ? <Skeleton lines={2} /> : <ErrorState compact error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && <p className="px-4 py-3 text-muted">No keys. Make one for a user or a program.</p>}
      {data?.map((key) => (
        <div key={key.id} role="group" aria-label={`Key ${key.name || key.prefix}`} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5">
          <div className="min-w-50 flex-1">
            <p>
              <span className="font-medium">{key.name || "Key"}</span> <span className="text-muted">of {key.user_name}</span> <code className="font-mono text-xs text-muted">{key.prefix}…</code>
            </p>
            <p className="text-xs text-muted">
              May {key.scopes.join(", ")} · {key.expires === null ? "does not expire" : <>expires <RelativeTime time={key.expires} /></>} ·{" "}
              {key.last_used === null ? "never used" : <>used <RelativeTime time={key.last_used} /></>}
            </p>
          </div>
          <State {...key} />
          {key.revoked === null && (
            <Button small aria-label={`Revoke the key ${key.name || key.prefix}`} onClick={() => setEnding(key)}>
              Revoke
            </Button>
          )}
        </div>
      ))}
      {making && <NewKeyDialog onClose={() => setMaking(false)} />}
      <Confirm
        open={ending !== null}
        onClose={() => setEnding(null)}
        title={`Revoke the key ${ending?.name || (ending?.prefix ?? "")}?`}
        about="It opens nothing any more, at once. This cannot be taken back."
        action="Revoke the key"
        onConfirm={() => ending !== null && revoke.mutateAsync(ending.id, { onSuccess: auditAnew })}
      />
    </Part>
  );
}

function State({ revoked, expires }: Key) {
  const [now] = useState(() => Date.now() / 1000);
  if (revoked !== null) return <Badge meaning="bad">revoked</Badge>;
  return expires !== null && expires < now ? <Badge meaning="attention">expired</Badge> : <Badge meaning="good">valid</Badge>;
}
