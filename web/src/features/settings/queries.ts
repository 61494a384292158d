/** Keys of providers, connectors and the models that a provider has. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, keys, useIsAdmin, type Shapes } from "@/api";

export type ProviderKey = Shapes["ProviderKeyShape"];

const providerKeys = () => [...keys.models(), "keys"] as const;

/** For who may administer; for others nothing is asked. */
export function useProviderKeys() {
  const enabled = useIsAdmin() === true;
  return useQuery({
    queryKey: providerKeys(),
    enabled,
    queryFn: async ({ signal }) => (await answer(api.GET("/api/provider-keys", { signal }))).keys,
  });
}

/** Null takes it out of the keyring. */
export function useChangeProviderKey(provider: string) {
  const client = useQueryClient();
  const params = { path: { provider } };
  return useMutation({
    mutationFn: (key: string | null) =>
      key === null
        ? answer(api.DELETE("/api/provider-keys/{provider}", { params }))
        : answer(api.PUT("/api/provider-keys/{provider}", { params, body: { key } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.models() }),
  });
}

export function useConnectors() {
  return useQuery({
    queryKey: [...keys.settings(), "connectors"],
    queryFn: async ({ signal }) => (await answer(api.GET("/api/connectors", { signal }))).connectors,
  });
}

/** Names with prices, for the providers that can be used now. */
export function useKnownModels(providers: readonly string[]) {
  return useQuery({
    queryKey: [...keys.models(), "known", providers],
    enabled: providers.length > 0,
    staleTime: 600_000,
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        providers.map((provider) => answer(api.GET("/api/models/{provider}", { params: { path: { provider } }, signal }))),
      );
      return lists.flatMap((list) => list.models);
    },
  });
}

/** After a deed of this page, so that it is listed at once. */
export function useAuditAnew(): () => void {
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: keys.audit() });
}
