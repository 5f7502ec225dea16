import type { Options, Playbook, ToolDefinition, Variable } from "../../playbook/types";
import { NumberField, SelectField, SwitchField, TextField } from "../../ui/fields";
import { JsonField } from "../../ui/JsonField";
import { StrictField } from "../../ui/StrictField";
import { useEditor } from "../editor";
import { AgentsForm } from "./AgentsForm";
import { isObject, refuseEmpty, refusePlaybookId } from "./accept";
import { DurationField } from "./DurationField";
import { ModelForm, modelSummary } from "./ModelForm";
import { PlaybookPolicyForm } from "./PolicyForm";
import { PromptField } from "./PromptField";
import { type Part, playbookPart } from "./part";
import styles from "./properties.module.css";
import { AddButton, Entry, Section } from "./Section";
import { stageOptions, ToolsForm } from "./ToolsForm";
import { useResolved } from "./useResolved";

const CLASSIFIERS = [
	{ value: "auto", label: "Chosen by what is there" },
	{ value: "keyword", label: "Keywords" },
	{ value: "embedding", label: "Embedding" },
	{ value: "llm", label: "A model" },
] as const;

const LIMITS = [
	{ field: "maxToolCallsPerTurn", label: "Tool calls per turn", unit: "", fallback: "10", min: 0 },
	{ field: "maxTransitionsPerTurn", label: "Transitions per turn", unit: "", fallback: "5", min: 1 },
	{ field: "maxCallDepth", label: "Calls inside calls", unit: "", fallback: "8", min: 1 },
	{ field: "llmRetries", label: "Retries of a failed call", unit: "", fallback: "3", min: 0 },
	{ field: "historyLimit", label: "Messages kept (swap layout)", unit: "", fallback: "50", min: 1 },
	{
		field: "replyHold",
		label: "Held back before a reply streams",
		unit: "characters",
		fallback: "160",
		min: 0,
	},
] as const;

const TIMES = [
	{ field: "phase1TimeoutMs", label: "Time for tools", placeholder: "1 min" },
	{ field: "turnTimeoutMs", label: "Time for a turn", placeholder: "5 min" },
] as const;

function OptionsForm({ part }: { part: Part<Options> }) {
	const { value, settle } = part;
	return (
		<>
			{LIMITS.map(({ field, fallback, ...rest }) => (
				<NumberField
					key={field}
					{...rest}
					placeholder={fallback}
					value={value[field]}
					error={part.error(field)}
					onEnd={settle}
					onChange={(next) => part.typed({ [field]: next })}
				/>
			))}
			{TIMES.map(({ field, label, placeholder }) => (
				<DurationField
					key={field}
					label={label}
					placeholder={placeholder}
					value={value[field]}
					error={part.error(field)}
					onEnd={settle}
					onChange={(next) => part.typed({ [field]: next })}
				/>
			))}
			<SelectField
				label="Intents are told apart by"
				options={CLASSIFIERS}
				value={value.intentClassifier ?? "auto"}
				onChange={(intentClassifier) => part.chosen({ intentClassifier })}
			/>
			<SwitchField
				label="Log full requests (debug)"
				value={value.debug ?? false}
				onChange={(on) => part.chosen({ debug: on || undefined })}
			/>
		</>
	);
}

function VariableEntry({ part, remove }: { part: Part<Variable>; remove: () => void }) {
	const { value, settle, pointer } = part;
	return (
		<Entry name={`variable ${value.name}`} onRemove={remove}>
			<StrictField
				label="Name"
				refuse={refuseEmpty}
				mono
				value={value.name}
				error={part.error("name")}
				onEnd={settle}
				onChange={(name) => part.typed({ name })}
			/>
			<TextField
				label="Description"
				value={value.description}
				onEnd={settle}
				onChange={(description) => part.typed({ description })}
			/>
			<JsonField
				id={`${pointer}/default`}
				label="Starts as"
				value={value.default}
				error={part.error("default")}
				onEnd={settle}
				onChange={(next) => part.typed({ default: next } as Partial<Variable>)}
			/>
			<JsonField
				id={`${pointer}/schema`}
				label="JSON Schema"
				value={value.schema}
				accept={isObject}
				error={part.error("schema")}
				onEnd={settle}
				onChange={(next) => part.typed({ schema: next as NonNullable<Variable["schema"]> })}
			/>
		</Entry>
	);
}

function Declarations({ part }: { part: Part<Playbook> }) {
	const { value } = part;
	return (
		<>
			<Section title="Variables" summary={String(value.variables?.length ?? 0)}>
				{part.entries("variables").map((entry, index) => (
					<VariableEntry
						key={entry.pointer}
						part={entry as unknown as Part<Variable>}
						remove={() => part.remove("variables", index)}
					/>
				))}
				<AddButton
					onClick={() => part.append("variables", { name: `variable_${(value.variables?.length ?? 0) + 1}` })}
				>
					Variable
				</AddButton>
			</Section>
			<AgentsForm part={part} />
		</>
	);
}

/** What holds for the whole playbook. */
export function PlaybookProperties({ playbook }: { playbook: Playbook }) {
	const part = playbookPart(useEditor(), playbook);
	const resolved = useResolved({ config: playbook.defaultLLMConfig ?? {} });
	const { settle } = part;
	return (
		<>
			<div className={styles.fields}>
				<TextField
					label="Name"
					required
					value={playbook.name}
					error={part.error("name")}
					onEnd={settle}
					onChange={(name) => part.typed({ name: name ?? "" })}
				/>
				<TextField
					label="Description"
					rows={2}
					value={playbook.description}
					onEnd={settle}
					onChange={(description) => part.typed({ description })}
				/>
				<PromptField
					label="Global prompt"
					rows={4}
					value={playbook.globalSystemPrompt}
					error={part.error("globalSystemPrompt")}
					placeholder="Comes before every stage's prompt"
					onEnd={settle}
					onChange={(text) => part.typed({ globalSystemPrompt: text || undefined })}
				/>
				<SelectField
					label="Starts in"
					searchable
					options={stageOptions(playbook)}
					value={playbook.initialStage}
					error={part.error("initialStage")}
					onChange={(initialStage) => initialStage && part.chosen({ initialStage })}
				/>
			</div>
			<Section title="Tools of every stage" summary={String(playbook.globalTools?.length ?? 0)}>
				<ToolsForm part={part as unknown as Part<{ globalTools?: ToolDefinition[] }>} field="globalTools" />
			</Section>
			<Section title="Model" summary={modelSummary(playbook.defaultLLMConfig) ?? "none named"}>
				<ModelForm part={part.object("defaultLLMConfig")} resolved={resolved} />
			</Section>
			<Declarations part={part} />
			<Section
				title="Limits and options"
				summary={playbook.options ? `${Object.keys(playbook.options).length} set` : "defaults"}
			>
				<OptionsForm part={part.object("options")} />
			</Section>
			<Section
				title="Context window"
				summary={playbook.context ? `${Object.keys(playbook.context).length} set` : "defaults"}
			>
				<PlaybookPolicyForm part={part.object("context")} />
			</Section>
			<Section title="More" summary={playbook.id}>
				<StrictField
					label="Id"
					refuse={refusePlaybookId}
					mono
					value={playbook.id}
					error={part.error("id")}
					onEnd={settle}
					onChange={(id) => part.typed({ id })}
				/>
				<TextField
					label="Version"
					value={playbook.version}
					onEnd={settle}
					onChange={(version) => part.typed({ version })}
				/>
				<JsonField
					id="/metadata"
					label="Metadata"
					description="studio holds the places of the stages"
					value={playbook.metadata}
					accept={isObject}
					onEnd={settle}
					onChange={(next) => part.typed({ metadata: next as NonNullable<Playbook["metadata"]> })}
				/>
			</Section>
		</>
	);
}
