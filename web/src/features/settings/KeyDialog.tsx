import { useState } from "react";

import { Button, Dialog, ErrorState, Input, toast } from "@/ui";

import { useChangeProviderKey } from "./queries";
import { nameOf } from "./words";

export interface KeyDialogProps {
  provider: string;
  /** Where the key that is used now comes from; empty without one. */
  origin: string;
  onClose: () => void;
}

/** Takes a key to the keyring. It is in this field only, and gone when the dialog closes. */
export function KeyDialog({ provider, origin, onClose }: KeyDialogProps) {
  const [key, setKey] = useState("");
  const change = useChangeProviderKey(provider);
  const name = nameOf(provider);
  const save = () =>
    change.mutate(key.trim(), {
      onSuccess: (kept) => {
        const used = kept.origin.startsWith("keyring");
        toast({ text: used ? `The key of ${name} is in the keyring.` : `The key is in the keyring, but ${kept.origin} decides.`, meaning: used ? "good" : "attention" });
        onClose();
      },
    });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Key of ${name}`}
      about="It goes into the keyring of the server's machine and is never shown again."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={key.trim() === ""} busy={change.isPending} onClick={save}>
            Keep in the keyring
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "") save();
        }}
      >
        <Input label="Key" type="password" autoFocus autoComplete="new-password" value={key} hint={origin === "" ? undefined : `Now: ${origin}.`} onChange={(event) => setKey(event.target.value)} />
        {change.isError && <ErrorState compact error={change.error} />}
      </form>
    </Dialog>
  );
}
