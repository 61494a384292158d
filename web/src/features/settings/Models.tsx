import { useModels } from "@/api";
import { ErrorState, Skeleton } from "@/ui";

import { Part } from "./Part";
import { ProviderRow } from "./ProviderRow";
import { useKnownModels, useProviderKeys } from "./queries";
import { SettingGroup } from "./SettingGroup";
import { nameOf, priceOf } from "./words";

export function Models({ wanted }: { wanted: string | undefined }) {
  const models = useModels();
  const providerKeys = useProviderKeys();
  const usable = models.data?.providers.filter((each) => each.usable) ?? [];
  const known = useKnownModels(usable.map((each) => each.name).filter((name) => name !== "builtin"));
  const offered = [...new Set(["builtin", ...usable.flatMap((each) => each.model ?? []), ...(known.data ?? []).map((each) => each.name), ...(models.data?.programs ?? []).map((each) => each.name)])];
  const error = models.error ?? providerKeys.error;
  return (
    <>
      <Part title="Providers" about="Keys go into the keyring of the server's machine. They are never shown again.">
        {models.data === undefined && (error === null ? <Skeleton lines={5} /> : <ErrorState compact error={error} onRetry={() => void models.refetch()} />)}
        {models.data !== undefined && <Answering chat={models.data.chat} price={priceFor(models.data.chat, models.data.providers, known.data ?? [])} />}
        {models.data?.providers.map((provider) => (
          <ProviderRow key={provider.name} provider={provider} providerKey={providerKeys.data?.find((each) => each.provider === provider.name)} />
        ))}
      </Part>
      <SettingGroup group="models" wanted={wanted} nothing="found by itself" offered={offered} />
      <SettingGroup group="providers" wanted={wanted} nothing="its own" />
    </>
  );
}

interface Priced {
  input_price: number | null;
  output_price: number | null;
}

function priceFor(chat: string, providers: readonly (Priced & { model: string | null })[], known: readonly (Priced & { name: string })[]): string | null {
  const found = known.find((each) => each.name === chat) ?? providers.find((each) => each.model === chat);
  return found === undefined ? null : priceOf(found.input_price, found.output_price);
}

function Answering({ chat, price }: { chat: string; price: string | null }) {
  return (
    <p className="bg-surface-1 px-4 py-2.5">
      Conversations are answered by <strong className="font-semibold">{chat === "builtin" ? nameOf(chat) : chat}</strong>
      {price === null ? "." : ` at ${price}.`}
      {chat === "builtin" && <span className="text-muted"> It follows rules and is no model: set a key to work with one.</span>}
    </p>
  );
}
