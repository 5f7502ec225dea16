import { Autocomplete } from "@mantine/core";
import type { LLMConfig } from "../../playbook/types";
import { NumberField, TagsField, TextField } from "../../ui/fields";
import type { Part } from "./part";

export interface KnownModel {
	readonly id: string;
	readonly provider: string;
}

function values(models: readonly KnownModel[], field: keyof KnownModel): string[] {
	return [...new Set(models.map((model) => model[field]))];
}

/** Which model is asked, and how. */
export function ModelForm({
	part,
	models,
	inherited,
}: {
	part: Part<LLMConfig>;
	models: readonly KnownModel[];
	inherited?: LLMConfig | null | undefined;
}) {
	const { value, settle } = part;
	const asPlaybook = (field: keyof LLMConfig) => {
		const set = inherited?.[field];
		return set === undefined || set === null ? "default" : `${String(set)} (of the playbook)`;
	};
	return (
		<>
			<Autocomplete
				label="Model"
				placeholder={asPlaybook("model")}
				data={values(models, "id")}
				value={value.model ?? ""}
				onChange={(model) => part.typed({ model: model || undefined })}
				onBlur={settle}
			/>
			<Autocomplete
				label="Provider"
				placeholder={asPlaybook("provider")}
				data={values(models, "provider")}
				value={value.provider ?? ""}
				onChange={(provider) => part.typed({ provider: provider || undefined })}
				onBlur={settle}
			/>
			<NumberField
				label="Temperature"
				decimals
				min={0}
				max={2}
				step={0.1}
				placeholder={asPlaybook("temperature")}
				value={value.temperature}
				error={part.error("temperature")}
				onEnd={settle}
				onChange={(temperature) => part.typed({ temperature })}
			/>
			<NumberField
				label="Reply at most"
				unit="tokens"
				min={1}
				placeholder={asPlaybook("maxTokens")}
				value={value.maxTokens}
				error={part.error("maxTokens")}
				onEnd={settle}
				onChange={(maxTokens) => part.typed({ maxTokens })}
			/>
			<NumberField
				label="Top p"
				decimals
				min={0}
				max={1}
				step={0.05}
				placeholder={asPlaybook("topP")}
				value={value.topP}
				error={part.error("topP")}
				onEnd={settle}
				onChange={(topP) => part.typed({ topP })}
			/>
			<TextField
				label="Effort"
				placeholder={asPlaybook("effort")}
				value={value.effort}
				error={part.error("effort")}
				onEnd={settle}
				onChange={(effort) => part.typed({ effort })}
			/>
			<TagsField
				label="Stop sequences"
				value={value.stopSequences}
				error={part.error("stopSequences")}
				onEnd={settle}
				onChange={(list) => part.chosen({ stopSequences: list.length > 0 ? list : undefined })}
			/>
		</>
	);
}

export function modelSummary(config: LLMConfig | null | undefined): string {
	if (!config) return "as the playbook says";
	return config.model ?? `${Object.keys(config).length} set`;
}
