import { useState } from "react";

import type { Shapes } from "@/api";
import { Badge, Button, Confirm, InlineCode, toast } from "@/ui";

import { KeyDialog } from "./KeyDialog";
import { useChangeProviderKey, type ProviderKey } from "./queries";
import { nameOf, priceOf } from "./words";

export interface ProviderRowProps {
  provider: Shapes["ProviderShape"];
  /** Undefined: it takes none. */
  providerKey: ProviderKey | undefined;
}

export function ProviderRow({ provider, providerKey }: ProviderRowProps) {
  const [setting, setSetting] = useState(false);
  const [removing, setRemoving] = useState(false);
  const change = useChangeProviderKey(provider.name);
  const name = nameOf(provider.name);
  const price = priceOf(provider.input_price, provider.output_price);
  const remove = async () => {
    const left = await change.mutateAsync(null);
    toast({ text: left.is_set ? `${name}: the key is out of the keyring; ${left.origin} still has one.` : `${name}: the key is removed.` });
  };
  return (
    <div role="group" aria-label={name} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-60 flex-1">
        <p className="flex flex-wrap items-center gap-x-3">
          <span className="font-medium">{name}</span>
          {provider.usable ? <Badge meaning="good">usable</Badge> : <span className="text-xs text-muted">not set up</span>}
        </p>
        <p className="text-xs text-muted">
          <InlineCode text={provider.how} />
        </p>
        {provider.model !== null && provider.name !== "builtin" && (
          <p className="text-xs text-muted">
            <span className="font-mono">{provider.model}</span>
            {price !== null && ` · ${price}`}
          </p>
        )}
      </div>
      {providerKey !== undefined && (
        <div className="flex gap-1.5">
          <Button small aria-label={`${providerKey.is_set ? "Replace" : "Set"} the key of ${name}`} onClick={() => setSetting(true)}>
            {providerKey.is_set ? "Replace the key" : "Set a key"}
          </Button>
          {providerKey.in_keyring && (
            <Button small aria-label={`Remove the key of ${name}`} onClick={() => setRemoving(true)}>
              Remove
            </Button>
          )}
        </div>
      )}
      {setting && <KeyDialog provider={provider.name} origin={providerKey?.origin ?? ""} onClose={() => setSetting(false)} />}
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={`Remove the key of ${name}?`}
        about="It is taken out of the keyring of the server's machine. Forge has no copy of it."
        action="Remove the key"
        onConfirm={remove}
      />
    </div>
  );
}
