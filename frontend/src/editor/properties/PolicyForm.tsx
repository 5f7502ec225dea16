import type { ContextPolicy, StageContextPolicy } from "../../playbook/types";
import { NumberField, SelectField } from "../../ui/fields";
import type { Part } from "./part";

const SWITCH = [
	{ value: "on", label: "On" },
	{ value: "off", label: "Off" },
] as const;
const SUMMARIES = [
	{ value: "model_given", label: "Given by the model on return, else by rules" },
	{ value: "llm", label: "Written by a model if that pays" },
	{ value: "rules", label: "By rules" },
] as const;

type SwitchField = "artifactTools" | "compaction";

function asSwitch(value: boolean | null | undefined): "on" | "off" | null {
	if (value === null || value === undefined) return null;
	return value ? "on" : "off";
}

function fromSwitch(value: "on" | "off" | undefined): boolean | undefined {
	return value === undefined ? undefined : value === "on";
}

interface StagePolicyProps {
	part: Part<StageContextPolicy>;
	/** What holds where nothing is set here: "as the playbook says", or the default. */
	otherwise: (fallback: string) => string;
}

const NUMBERS = [
	{
		field: "artifactThreshold",
		label: "Results become artifacts above",
		unit: "characters",
		fallback: "500",
		min: 1,
	},
	{
		field: "artifactPreview",
		label: "Characters of an artifact loaded at once",
		unit: "characters",
		fallback: "20,000",
		min: 1,
	},
	{
		field: "budgetTokens",
		label: "Window at most",
		unit: "tokens",
		fallback: "60 % of the model's window",
		min: 1,
	},
	{ field: "budgetTarget", label: "Compacted down to", unit: "tokens", fallback: "half of that", min: 1 },
	{
		field: "keepRecent",
		label: "Newest turns that always stay",
		unit: "tokens",
		fallback: "a fifth of the window",
		min: 0,
	},
	{ field: "cachePoints", label: "Cache points at most", unit: "", fallback: "4", min: 0, max: 4 },
] as const;

export function StagePolicyForm({ part, otherwise }: StagePolicyProps) {
	const { value, settle } = part;
	const toggle = (field: SwitchField, label: string, fallback: string) => (
		<SelectField
			label={label}
			options={SWITCH}
			clearable
			placeholder={otherwise(fallback)}
			value={asSwitch(value[field])}
			onChange={(next) => part.chosen({ [field]: fromSwitch(next) })}
		/>
	);
	return (
		<>
			{NUMBERS.map(({ field, fallback, ...rest }) => (
				<NumberField
					key={field}
					{...rest}
					placeholder={otherwise(fallback)}
					value={value[field]}
					error={part.error(field)}
					onEnd={settle}
					onChange={(next) => part.typed({ [field]: next })}
				/>
			))}
			{toggle("compaction", "Compaction", "on")}
			{toggle("artifactTools", "SaveArtifact and LoadArtifact for the model", "on")}
			<SelectField
				label="Summaries of finished frames"
				options={SUMMARIES}
				clearable
				placeholder={otherwise("given by the model, else by rules")}
				value={value.summaries}
				onChange={(summaries) => part.chosen({ summaries })}
			/>
		</>
	);
}

const LAYOUTS = [
	{ value: "append", label: "Append: entering a stage adds its instructions" },
	{ value: "swap", label: "Swap: a stage's prompt replaces the one before" },
] as const;
const LIFETIMES = [
	{ value: "auto", label: "Chosen by what pays" },
	{ value: "5m", label: "5 minutes" },
	{ value: "1h", label: "1 hour" },
] as const;

export function PlaybookPolicyForm({ part }: { part: Part<ContextPolicy> }) {
	const { value } = part;
	return (
		<>
			<SelectField
				label="Layout of the window"
				options={LAYOUTS}
				clearable
				placeholder="Append"
				value={value.layout}
				onChange={(layout) => part.chosen({ layout })}
			/>
			<SelectField
				label="Lifetime of the cache"
				options={LIFETIMES}
				clearable
				placeholder="Chosen by what pays"
				value={value.cacheTtl}
				onChange={(cacheTtl) => part.chosen({ cacheTtl })}
			/>
			<SelectField
				label="Send only what changed of the state"
				options={SWITCH}
				clearable
				placeholder="On"
				value={asSwitch(value.stateCompression)}
				onChange={(next) => part.chosen({ stateCompression: fromSwitch(next) })}
			/>
			<NumberField
				label="Full state again after"
				unit="changes"
				min={1}
				placeholder="8"
				value={value.fullStateInterval}
				error={part.error("fullStateInterval")}
				onEnd={part.settle}
				onChange={(fullStateInterval) => part.typed({ fullStateInterval })}
			/>
			<StagePolicyForm
				part={part as unknown as Part<StageContextPolicy>}
				otherwise={(fallback) => fallback}
			/>
		</>
	);
}
