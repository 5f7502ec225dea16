import { type Resolved, resolveModel } from "../api/connections";
import type { Playbook } from "../playbook/types";
import { useLatest } from "../ui/useLatest";

/** Who would answer in the stage that a chat begins with; null while that is not known. */
export function useAnswering(document: Playbook): Resolved | null {
	const first = document.stages.find(({ id }) => id === document.initialStage);
	const asked = { config: first?.llmConfig ?? {}, default: document.defaultLLMConfig ?? null };
	return useLatest(JSON.stringify(asked), (signal) => resolveModel(asked, signal));
}
