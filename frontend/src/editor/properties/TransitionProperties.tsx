import { transitionSentence } from "../../playbook/labels";
import type { Condition, Playbook, Transition, TransitionAction } from "../../playbook/types";
import { NumberField, SelectField, SwitchField, TextField } from "../../ui/fields";
import { JsonField } from "../../ui/JsonField";
import { useEditor, useUi } from "../editor";
import { isObject } from "./accept";
import { ConditionForm } from "./ConditionForm";
import { type Part, transitionPart } from "./part";
import styles from "./properties.module.css";
import { Section } from "./Section";
import { stageOptions, toolNames } from "./ToolsForm";

const MODES = [
	{ value: "goto", label: "Goes there" },
	{ value: "call", label: "Calls it, and comes back" },
	{ value: "return", label: "Returns to the caller" },
] as const;

function withCurrent(options: { value: string; label: string }[], current: string | null | undefined) {
	if (!current || options.some(({ value }) => value === current)) return options;
	return [...options, { value: current, label: `${current} (missing)` }];
}

function targetOptions(playbook: Playbook, current: string | null | undefined) {
	const agents = (playbook.agents ?? []).map(({ name }) => ({
		value: `agent:${name}`,
		label: `Agent ${name}`,
	}));
	return withCurrent([...stageOptions(playbook), ...agents], current);
}

function sourceOptions(playbook: Playbook, current: string) {
	return withCurrent([...stageOptions(playbook), { value: "*", label: "✱ Any stage" }], current);
}

function ActionForm({ part, playbook }: { part: Part<TransitionAction>; playbook: Playbook }) {
	const { value } = part;
	const mode = value.mode ?? "goto";
	const chooseMode = (next: typeof mode | undefined) =>
		part.chosen({
			mode: next === "goto" ? undefined : next,
			...(next === "return" ? { targetStage: undefined } : {}),
		});
	return (
		<>
			<SelectField
				label="How"
				options={MODES}
				value={mode}
				error={part.error("mode")}
				onChange={chooseMode}
			/>
			{mode !== "return" && (
				<SelectField
					label="To"
					searchable
					options={targetOptions(playbook, value.targetStage)}
					value={value.targetStage}
					error={part.error("targetStage")}
					onChange={(targetStage) => part.chosen({ targetStage })}
				/>
			)}
		</>
	);
}

function ActionExtras({ part }: { part: Part<TransitionAction> }) {
	const { value, settle } = part;
	return (
		<>
			<TextField
				label="Said on the way"
				rows={2}
				placeholder="nothing"
				value={value.transitionMessage}
				onEnd={settle}
				onChange={(transitionMessage) => part.typed({ transitionMessage })}
			/>
			<SwitchField
				label="Clear the history"
				value={value.clearHistory ?? false}
				onChange={(on) => part.chosen({ clearHistory: on || undefined })}
			/>
			<JsonField
				id={`${part.pointer}/data`}
				label="Data for the stage"
				value={value.data}
				accept={isObject}
				error={part.error("data")}
				onEnd={settle}
				onChange={(next) => part.typed({ data: next as NonNullable<TransitionAction["data"]> })}
			/>
		</>
	);
}

/** Everything that a transition says. */
export function TransitionProperties({
	playbook,
	transition,
}: {
	playbook: Playbook;
	transition: Transition;
}) {
	const editor = useEditor();
	const fresh = useUi((ui) => ui.fresh === transition.id);
	const part = transitionPart(editor, playbook, transition);
	const { settle } = part;
	const action = part.object("action");
	return (
		<>
			<p className={styles.sentence}>{transitionSentence(transition)}</p>
			<div className={styles.fields}>
				<ConditionForm
					part={part.object("condition") as unknown as Part<Condition>}
					tools={toolNames(playbook)}
					fresh={fresh}
				/>
			</div>
			<Section title="From and to" open>
				<SelectField
					label="From"
					searchable
					options={sourceOptions(playbook, transition.from)}
					value={transition.from}
					error={part.error("from")}
					onChange={(from) => from && part.chosen({ from })}
				/>
				<ActionForm part={action} playbook={playbook} />
			</Section>
			<Section title="On the way" summary={transition.action.transitionMessage ? "a message" : "nothing"}>
				<ActionExtras part={action} />
			</Section>
			<Section title="Order" open>
				<NumberField
					label="Priority"
					placeholder="0"
					description="Higher ones are looked at first"
					value={transition.priority || undefined}
					onEnd={settle}
					onChange={(priority) => part.typed({ priority })}
				/>
				<SwitchField
					label="Disabled"
					value={transition.disabled ?? false}
					onChange={(on) => part.chosen({ disabled: on || undefined })}
				/>
			</Section>
			<Section title="More" summary={transition.id}>
				<TextField
					label="Description"
					rows={2}
					value={transition.description}
					onEnd={settle}
					onChange={(description) => part.typed({ description })}
				/>
				<JsonField
					id={`${part.pointer}/metadata`}
					label="Metadata"
					value={transition.metadata}
					accept={isObject}
					onEnd={settle}
					onChange={(next) => part.typed({ metadata: next as NonNullable<Transition["metadata"]> })}
				/>
			</Section>
		</>
	);
}
