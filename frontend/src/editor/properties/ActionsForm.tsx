import type { Stage, StageAction } from "../../playbook/types";
import { SelectField } from "../../ui/fields";
import { JsonField } from "../../ui/JsonField";
import { isObject } from "./accept";
import type { Part } from "./part";
import { AddButton, Entry } from "./Section";
import { ToolNameField } from "./ToolNameField";

const WHEN = { onEnter: "entering", onExit: "leaving" } as const;
const KINDS = [
	{ value: "set", label: "Set variables" },
	{ value: "call", label: "Call a tool" },
] as const;

type Fields = Partial<{ set: Record<string, string>; call: string; arguments: Record<string, unknown> }>;

function isTexts(value: unknown): string | null {
	const fine =
		isObject(value) === null && Object.values(value as object).every((entry) => typeof entry === "string");
	return fine ? null : 'An object with expressions as texts is needed: {"variable": "expression"}.';
}

interface ActionEntryProps {
	part: Part<StageAction>;
	name: string;
	tools: readonly string[];
	remove: () => void;
}

function ActionEntry({ part, name, tools, remove }: ActionEntryProps) {
	const fields = part as unknown as Part<Fields>;
	const { value } = fields;
	const kind = value.set === undefined ? "call" : "set";
	return (
		<Entry name={name} onRemove={remove}>
			<SelectField
				label="Action"
				options={KINDS}
				value={kind}
				onChange={(next) => fields.replaced(next === "set" ? { set: {} } : { call: tools[0] ?? "tool" })}
			/>
			{kind === "set" ? (
				<JsonField
					id={part.pointer}
					label="Variables and their expressions"
					value={value.set}
					accept={isTexts}
					onEnd={part.settle}
					onChange={(set) => fields.typed({ set: (set ?? {}) as Record<string, string> })}
				/>
			) : (
				<>
					<ToolNameField
						label="Tool"
						value={value.call ?? ""}
						tools={tools}
						error={fields.error("call")}
						onEnd={part.settle}
						onChange={(call) => fields.typed({ call })}
					/>
					<JsonField
						id={part.pointer}
						label="Arguments"
						value={value.arguments}
						accept={isObject}
						onEnd={part.settle}
						onChange={(next) => fields.typed({ arguments: next as Record<string, unknown> })}
					/>
				</>
			)}
		</Entry>
	);
}

/** What happens on entering or leaving a stage. */
interface ActionsFormProps {
	stage: Part<Stage>;
	field: "onEnter" | "onExit";
	tools: readonly string[];
}

export function ActionsForm({ stage, field, tools }: ActionsFormProps) {
	return (
		<>
			{stage.entries(field).map((part, index) => (
				<ActionEntry
					tools={tools}
					key={part.pointer}
					part={part as unknown as Part<StageAction>}
					name={`action ${index + 1} on ${WHEN[field]}`}
					remove={() => stage.remove(field, index)}
				/>
			))}
			<AddButton onClick={() => stage.append(field, { set: {} })}>Action on {WHEN[field]}</AddButton>
		</>
	);
}
