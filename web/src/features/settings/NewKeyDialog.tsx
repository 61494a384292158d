import { useId, useState } from "react";

import { useCreateKey, useUsers, useWho, type Shapes } from "@/api";
import { Button, copyText, Dialog, ErrorState, Input } from "@/ui";

import { useAuditAnew } from "./queries";
import { Select } from "./Select";

type Scope = NonNullable<Shapes["NewKeyOrder"]["scopes"]>[number];

const SCOPES: { scope: Scope; about: string }[] = [
  { scope: "read", about: "look at everything the user sees" },
  { scope: "write", about: "change files, branches and projects" },
  { scope: "run", about: "let agents work, which costs" },
  { scope: "admin", about: "settings, keys and users" },
];
const LIVES: [string, string][] = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "a year"],
  ["", "until it is revoked"],
];

export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const create = useCreateKey();
  const auditAnew = useAuditAnew();
  if (create.data !== undefined) return <Shown text={create.data.text} onClose={onClose} />;
  return <Order error={create.error} busy={create.isPending} onOrder={(order) => create.mutate(order, { onSuccess: auditAnew })} onClose={onClose} />;
}

interface OrderProps {
  error: Error | null;
  busy: boolean;
  onOrder: (order: Shapes["NewKeyOrder"]) => void;
  onClose: () => void;
}

function Order({ error, busy, onOrder, onClose }: OrderProps) {
  const id = useId();
  const users = useUsers().data?.filter((user) => user.disabled === null) ?? [];
  const me = useWho().data;
  const [user, setUser] = useState("");
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [scopes, setScopes] = useState<Scope[]>(["read", "write", "run"]);
  const whose = user === "" ? (users[0]?.name ?? me?.name ?? "") : user;
  const toggle = (scope: Scope) => setScopes((now) => (now.includes(scope) ? now.filter((each) => each !== scope) : [...now, scope]));
  const order = () => onOrder({ user: whose, name: name.trim(), scopes, days: days === "" ? null : Number(days) });
  return (
    <Dialog
      open
      onClose={onClose}
      title="New key"
      about="Who has it can do on this server what it allows."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={scopes.length === 0 || whose === ""} busy={busy} onClick={order}>
            Make the key
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {users.length === 0 ? (
          <p className="text-muted">There are no other users yet: add one first to give them a key.</p>
        ) : (
          <div className="flex flex-col gap-1">
            <label htmlFor={`${id}-user`} className="text-xs font-medium">
              User
            </label>
            <Select id={`${id}-user`} value={whose} onChange={(event) => setUser(event.target.value)}>
              {users.map((each) => (
                <option key={each.id}>{each.name}</option>
              ))}
            </Select>
          </div>
        )}
        <Input label="Name" hint="What it is for, such as laptop." value={name} onChange={(event) => setName(event.target.value)} />
        <fieldset className="flex flex-col gap-1">
          <legend className="mb-1 text-xs font-medium">It may</legend>
          {SCOPES.map(({ scope, about }) => (
            <label key={scope} className="flex items-center gap-2">
              <input type="checkbox" className="accent-(--accent-fill)" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
              <span className="w-12 font-medium">{scope}</span>
              <span className="text-muted">{about}</span>
            </label>
          ))}
        </fieldset>
        <div className="flex flex-col gap-1">
          <label htmlFor={`${id}-days`} className="text-xs font-medium">
            It lives for
          </label>
          <Select id={`${id}-days`} value={days} onChange={(event) => setDays(event.target.value)}>
            {LIVES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </div>
        {error !== null && <ErrorState compact error={error} />}
      </div>
    </Dialog>
  );
}

function Shown({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="The new key"
      about="Copy it now. It is kept nowhere and never shown again."
      actions={
        <>
          <Button onClick={() => void copyText(text, "Copied the key")}>Copy</Button>
          <Button kind="primary" onClick={onClose}>
            I have it
          </Button>
        </>
      }
    >
      <Input aria-label="The key" readOnly value={text} className="font-mono" onFocus={(event) => event.target.select()} />
    </Dialog>
  );
}
