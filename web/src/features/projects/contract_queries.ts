/** Contracts of a project: cards, texts, versions, and edits over the text that was read. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, keys, type Shapes } from "@/api";

import type { Schema } from "./contract_editor/suggestions";

export type ContractCard = Shapes["ContractCardShape"];
export type Contract = Shapes["ContractShape"];
export type Finding = Shapes["FindingShape"];
export type ContractType = ContractCard["contract_type"];

const at = (project: string, contract_type: string, query = {}) => ({ params: { path: { project, contract_type }, query } });

export function useContracts(project: string) {
  return useQuery({
    queryKey: [...keys.contracts(project), "list"],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts", { params: { path: { project } }, signal })),
  });
}

export function useContract(project: string, type: ContractType) {
  return useQuery({
    queryKey: [...keys.contracts(project), "one", type],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/{contract_type}", { ...at(project, type), signal })),
  });
}

/** An earlier text, which never changes. */
export function useContractVersion(project: string, type: ContractType, version: number | null) {
  return useQuery({
    queryKey: [...keys.contracts(project), "version", type, version],
    enabled: version !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/{contract_type}", { ...at(project, type, { version }), signal })),
  });
}

/** What may stand in a contract that has a JSON Schema. */
export function useContractSchema(project: string, type: ContractType) {
  return useQuery({
    queryKey: ["contract-schema", type],
    enabled: type === "physics" || type === "boundaries",
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<Schema> => answer(api.GET("/api/projects/{project}/contracts/schema/{contract_type}", { params: { path: { project, contract_type: type } }, signal })),
  });
}

/** Newest first. */
export function useContractVersions(project: string, type: ContractType) {
  return useQuery({
    queryKey: [...keys.contracts(project), "versions", type],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/projects/{project}/contracts/{contract_type}/versions", { ...at(project, type, { limit: 1000 }), signal }))).items,
  });
}

export function useContractDiff(project: string, type: ContractType, versions: { old: number; new: number } | null) {
  return useQuery({
    queryKey: [...keys.contracts(project), "diff", type, versions],
    enabled: versions !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/{contract_type}/diff", { ...at(project, type, versions ?? {}), signal })),
  });
}

/** What the check says about a text that is not saved yet. */
export function useDraftFindings(project: string, type: ContractType, text: string) {
  return useQuery({
    queryKey: [...keys.contracts(project), "draft", type, text],
    placeholderData: keepPreviousData,
    gcTime: 10_000,
    queryFn: async ({ signal }) => {
      const body = { documents: { [type]: text }, mini: false };
      return (await answer(api.POST("/api/projects/{project}/contracts/check", { params: { path: { project } }, body, signal }))).findings;
    },
  });
}

export function useSaveContract(project: string, type: ContractType) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: { content: string; etag: string }) =>
      answer(api.PUT("/api/projects/{project}/contracts/{contract_type}", { params: { path: { project, contract_type: type } }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.contracts(project) }),
  });
}

export function useRestoreContract(project: string, type: ContractType) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (version: number) =>
      answer(api.POST("/api/projects/{project}/contracts/{contract_type}/restore", { params: { path: { project, contract_type: type } }, body: { version } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.contracts(project) }),
  });
}

export type Generation = Shapes["GenerationShape"];
export type ContractQuestion = Shapes["ContractQuestionShape"];
export type GenerationOrder = Partial<Shapes["GenerationOrder"]>;

const of = (project: string) => ({ params: { path: { project } } });

/** The newest run that writes contracts; null where there was none. */
export function useContractGeneration(project: string) {
  return useQuery({
    queryKey: keys.contractGeneration(project),
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/generation", { ...of(project), signal })),
  });
}

export function useGenerateContracts(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (order: GenerationOrder) =>
      answer(
        api.POST("/api/projects/{project}/contracts/generation", {
          ...of(project),
          body: { kinds: [], everything: false, edited: "refuse", mini: false, agent: null, ...order },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.contracts(project) }),
  });
}

export function useStopGeneration(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.DELETE("/api/projects/{project}/contracts/generation", of(project))),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.contracts(project) }),
  });
}

export function useContractQuestions(project: string) {
  return useQuery({
    queryKey: [...keys.contracts(project), "questions"],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/questions", { ...of(project), signal })),
  });
}

export function useAnswerQuestions(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (answers: Record<string, string>) =>
      answer(api.PUT("/api/projects/{project}/contracts/questions", { ...of(project), body: { answers } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.contracts(project) }),
  });
}

export type LeakReport = Shapes["LeakReportShape"];

/** Contract text in the files of the branch that the project builds. Looked for when it is opened, and on demand. */
export function useContractLeaks(project: string) {
  return useQuery({
    queryKey: [...keys.contracts(project), "leaks"],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/leaks", { ...of(project), signal })),
  });
}

/** Phases, endpoints and layers, as the saved contracts name them. */
export function useContractPictures(project: string) {
  return useQuery({
    queryKey: [...keys.contracts(project), "pictures"],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/contracts/pictures", { ...of(project), signal })),
  });
}
