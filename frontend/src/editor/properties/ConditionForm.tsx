import { conditionOfType } from "../../playbook/commands";
import { CONDITION_NAMES } from "../../playbook/labels";
import type {
	Condition,
	IntentCondition,
	KeywordCondition,
	TimeoutCondition,
	ToolCallCondition,
} from "../../playbook/types";
import { NumberField, RangeField, SelectField, TagsField, TextField } from "../../ui/fields";
import { DurationField } from "./DurationField";
import type { Part } from "./part";
import { ToolNameField } from "./ToolNameField";

type Kind = Condition["type"];
type Of<K extends Kind> = Extract<Condition, { type: K }>;

const TYPES = (Object.keys(CONDITION_NAMES) as Kind[]).map((value) => ({
	value,
	label: CONDITION_NAMES[value],
}));
const MATCHES = [
	{ value: "word", label: "As a whole word" },
	{ value: "substring", label: "Anywhere in the text" },
	{ value: "regex", label: "Regular expression" },
] as const;
const SOURCES = [
	{ value: "assistant", label: "The assistant" },
	{ value: "user", label: "The user" },
	{ value: "any", label: "Either of them" },
] as const;
const OUTCOMES = [
	{ value: "any", label: "Whatever came of it" },
	{ value: "success", label: "It succeeded" },
	{ value: "error", label: "It failed" },
] as const;
const SINCE = [
	{ value: "stage_entered", label: "the stage was entered" },
	{ value: "last_activity", label: "anybody last said something" },
] as const;
const WHEN = [
	{ value: "after", label: "After the reply" },
	{ value: "before", label: "Before the reply" },
] as const;

function KeywordForm({ part }: { part: Part<KeywordCondition> }) {
	const { value } = part;
	return (
		<>
			<TagsField
				label="Keywords"
				placeholder="refund, money back"
				value={value.keywords}
				error={part.error("keywords")}
				onEnd={part.settle}
				onChange={(keywords) => part.chosen({ keywords })}
			/>
			<SelectField
				label="Said by"
				options={SOURCES}
				value={value.source ?? "assistant"}
				onChange={(source) => part.chosen({ source })}
			/>
			<SelectField
				label="Found"
				options={MATCHES}
				value={value.match ?? "word"}
				onChange={(match) => part.chosen({ match })}
			/>
		</>
	);
}

function ToolCallForm({ part, tools }: { part: Part<ToolCallCondition>; tools: readonly string[] }) {
	const { value, settle } = part;
	return (
		<>
			<ToolNameField
				label="Tool"
				value={value.toolName}
				tools={tools}
				error={part.error("toolName")}
				onEnd={settle}
				onChange={(toolName) => part.typed({ toolName })}
			/>
			<SelectField
				label="Outcome"
				options={OUTCOMES}
				value={value.outcome ?? "any"}
				onChange={(outcome) => part.chosen({ outcome })}
			/>
			<TextField
				label="Where"
				mono
				placeholder="always"
				description="An expression over arguments and result"
				value={value.where}
				error={part.error("where")}
				onEnd={settle}
				onChange={(where) => part.typed({ where })}
			/>
		</>
	);
}

function IntentForm({ part }: { part: Part<IntentCondition> }) {
	const { value, settle } = part;
	return (
		<>
			<TextField
				label="Intent"
				required
				placeholder="cancel"
				value={value.intent}
				error={part.error("intent")}
				onEnd={settle}
				onChange={(intent) => part.typed({ intent: intent ?? "" })}
			/>
			<RangeField
				label="Confidence at least"
				min={0}
				max={1}
				step={0.05}
				value={value.confidence ?? 0.6}
				onChange={(confidence) => part.typed({ confidence })}
				onEnd={settle}
			/>
			<TagsField
				label="Examples"
				placeholder="I want to cancel"
				value={value.examples}
				onEnd={settle}
				onChange={(examples) => part.chosen({ examples: examples.length > 0 ? examples : undefined })}
			/>
			<TextField
				label="Description"
				rows={2}
				value={value.description}
				onEnd={settle}
				onChange={(description) => part.typed({ description })}
			/>
		</>
	);
}

function TimeoutForm({ part }: { part: Part<TimeoutCondition> }) {
	const { value, settle } = part;
	return (
		<>
			<DurationField
				label="After"
				required
				value={value.durationMs}
				error={part.error("durationMs")}
				onEnd={settle}
				onChange={(durationMs) => durationMs && part.typed({ durationMs })}
			/>
			<SelectField
				label="Since"
				options={SINCE}
				value={value.since ?? "stage_entered"}
				onChange={(since) => part.chosen({ since })}
			/>
		</>
	);
}

function CustomForm({ part }: { part: Part<Of<"custom">> }) {
	const { value, settle } = part;
	return (
		<>
			<TextField
				label="Expression"
				mono
				required
				rows={2}
				placeholder="vars.total > 100"
				value={value.expression}
				error={part.error("expression")}
				description="CEL over vars, turn, stage, session, data and now"
				onEnd={settle}
				onChange={(expression) => part.typed({ expression: expression ?? "" })}
			/>
			<SelectField
				label="Looked at"
				options={WHEN}
				value={value.when ?? "after"}
				onChange={(when) => part.chosen({ when })}
			/>
		</>
	);
}

interface ConditionFormProps {
	part: Part<Condition>;
	tools: readonly string[];
	/** The transition was just drawn: what it needs first takes the focus. */
	fresh: boolean;
}

function Fields({ part, tools, fresh }: ConditionFormProps) {
	const { value, settle } = part;
	const as = <K extends Kind>() => part as unknown as Part<Of<K>>;
	switch (value.type) {
		case "keyword":
			return <KeywordForm part={as<"keyword">()} />;
		case "tool_call":
			return <ToolCallForm part={as<"tool_call">()} tools={tools} />;
		case "intent":
			return <IntentForm part={as<"intent">()} />;
		case "llm_decision":
			return (
				<TextField
					label="When should the model move on?"
					autoFocus={fresh}
					rows={2}
					placeholder="The customer has been identified."
					description="The model reads this; without it, the target's description"
					value={value.description}
					onEnd={settle}
					onChange={(description) => as<"llm_decision">().typed({ description })}
				/>
			);
		case "max_turns":
			return (
				<NumberField
					label="Turns"
					min={1}
					required
					value={value.count}
					error={part.error("count")}
					onEnd={settle}
					onChange={(count) => count && as<"max_turns">().typed({ count })}
				/>
			);
		case "timeout":
			return <TimeoutForm part={as<"timeout">()} />;
		case "custom":
			return <CustomForm part={as<"custom">()} />;
		default:
			return value satisfies never;
	}
}

/** When the transition is taken: one form for each kind of condition. */
export function ConditionForm({ part, tools, fresh }: ConditionFormProps) {
	const choose = (type: Kind | undefined) => {
		if (type && type !== part.value.type) part.replaced(conditionOfType(type, part.value, tools[0]));
	};
	return (
		<>
			<SelectField label="Moves on when" options={TYPES} value={part.value.type} onChange={choose} />
			<Fields part={part} tools={tools} fresh={fresh} />
		</>
	);
}
