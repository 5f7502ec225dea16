import { Button, Group } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Resolved } from "../../api/connections";
import * as commands from "../../playbook/commands";
import { duration } from "../../playbook/duration";
import { endTitle, transitionSentence } from "../../playbook/labels";
import type { Playbook, Stage, StageAction, ToolDefinition } from "../../playbook/types";
import { NumberField, SelectField, SwitchField, TextField } from "../../ui/fields";
import { JsonField } from "../../ui/JsonField";
import { type Editor, useEditor } from "../editor";
import { announce, selectStage, selectTransition, setInitial } from "../operations";
import { ActionsForm } from "./ActionsForm";
import { isObject } from "./accept";
import { DurationField } from "./DurationField";
import { ModelForm, modelSummary } from "./ModelForm";
import { StagePolicyForm } from "./PolicyForm";
import { PromptField } from "./PromptField";
import { type Part, stagePart } from "./part";
import styles from "./properties.module.css";
import { AddButton, Section } from "./Section";
import { ToolsForm, toolNames } from "./ToolsForm";
import { useResolved } from "./useResolved";

const KINDS = [
	{ value: "chat", label: "Chat: talks with the user" },
	{ value: "end", label: "End: completes the session after its reply" },
	{ value: "raw", label: "Raw: sends its prompt as it is, once" },
] as const;

function changeId(editor: Editor, playbook: Playbook, id: string, wanted: string): void {
	const taken = playbook.stages.some((stage) => stage.id === wanted);
	if (wanted === id) return;
	if (wanted === "" || taken) {
		announce(editor, taken ? `The id ${wanted} is taken.` : "A stage needs an id.");
		return;
	}
	editor.history.edit("Change stage id", (current) => commands.changeStageId(current, id, wanted));
	selectStage(editor, wanted);
}

/** The id is taken over when the field is left, because transitions are renamed with it. */
function IdField({ playbook, stage }: { playbook: Playbook; stage: Stage }) {
	const editor = useEditor();
	const [typed, setTyped] = useState(stage.id);
	const taken = typed !== stage.id && playbook.stages.some(({ id }) => id === typed);
	const end = () => {
		changeId(editor, playbook, stage.id, typed.trim());
		if (taken || typed.trim() === "") setTyped(stage.id);
	};
	return (
		<TextField
			label="Id"
			mono
			required
			value={typed}
			error={taken ? "Another stage has this id." : undefined}
			onEnd={end}
			onChange={(next) => setTyped(next ?? "")}
		/>
	);
}

function Leads({ playbook, stage }: { playbook: Playbook; stage: Stage }) {
	const editor = useEditor();
	const rules = (playbook.transitions ?? []).filter(({ from }) => from === stage.id || from === "*");
	const sorted = [...rules].sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
	return (
		<>
			{sorted.map((rule) => (
				<button
					key={rule.id}
					type="button"
					className={styles.lead}
					onClick={() => selectTransition(editor, rule.id)}
				>
					<span>→ {endTitle(playbook, rule.action.mode === "return" ? null : rule.action.targetStage)}</span>
					<span className={styles.quiet}>
						{transitionSentence(rule)}
						{rule.priority ? ` · priority ${rule.priority}` : ""}
					</span>
				</button>
			))}
			<AddButton onClick={() => editor.ui.setState({ dialog: { kind: "connect", from: stage.id } })}>
				Transition
			</AddButton>
		</>
	);
}

function toolChoiceOptions(stage: Stage, playbook: Playbook) {
	const tools = [...(playbook.globalTools ?? []), ...(stage.tools ?? [])];
	return [
		{ value: "auto", label: "The model decides" },
		{ value: "none", label: "No tools" },
		{ value: "required", label: "Some tool, first" },
		...tools.map(({ name }) => ({ value: `tool:${name}`, label: `${name}, first` })),
	];
}

interface ToolChoiceProps {
	part: Part<Stage>;
	playbook: Playbook;
	resolved: Resolved | null;
}

/** A model that cannot be forced is told in words which tool to call: the choice still says something. */
function forcedWords(part: Part<Stage>, resolved: Resolved | null): ReactNode {
	const problem = part.error("toolChoice");
	if (problem || !resolved?.leftOut.includes("toolChoice")) return problem;
	return <span data-severity="warning">Not supported by {resolved.model}: it is asked in words.</span>;
}

function ToolChoiceField({ part, playbook, resolved }: ToolChoiceProps) {
	const choice = part.value.toolChoice ?? "auto";
	const value = typeof choice === "string" ? choice : `tool:${choice.name}`;
	const choose = (next: string | undefined) => {
		const name = next?.startsWith("tool:") ? next.slice("tool:".length) : null;
		part.chosen({
			toolChoice: name === null ? ((next ?? "auto") as "auto" | "none" | "required") : { name },
		});
	};
	return (
		<SelectField
			label="Tool choice"
			options={toolChoiceOptions(part.value, playbook)}
			value={value}
			error={forcedWords(part, resolved)}
			onChange={choose}
		/>
	);
}

function Limits({ part }: { part: Part<Stage> }) {
	const { value, settle } = part;
	return (
		<>
			<NumberField
				label="Turns at most"
				min={1}
				placeholder="no limit"
				value={value.maxTurns}
				error={part.error("maxTurns")}
				onEnd={settle}
				onChange={(maxTurns) => part.typed({ maxTurns })}
			/>
			<DurationField
				label="Time limit"
				min={1}
				placeholder="no limit"
				value={value.timeoutMs}
				error={part.error("timeoutMs")}
				onEnd={settle}
				onChange={(timeoutMs) => part.typed({ timeoutMs })}
			/>
		</>
	);
}

function limitsSummary({ maxTurns, timeoutMs }: Stage): string {
	const parts = [];
	if (maxTurns) parts.push(`≤ ${maxTurns} turns`);
	if (timeoutMs) parts.push(`≤ ${duration(timeoutMs)}`);
	return parts.join(", ") || "none";
}

function actionWords(actions: readonly StageAction[] | undefined): number {
	return actions?.length ?? 0;
}

interface StagePropertiesProps {
	playbook: Playbook;
	stage: Stage;
}

/** Everything that a stage says. */
export function StageProperties({ playbook, stage }: StagePropertiesProps) {
	const editor = useEditor();
	const part = stagePart(editor, playbook, stage);
	const { settle } = part;
	const initial = playbook.initialStage === stage.id;
	const resolved = useResolved({
		config: stage.llmConfig ?? {},
		default: playbook.defaultLLMConfig ?? null,
		toolChoice: stage.toolChoice ?? "auto",
	});
	const actions = actionWords(stage.onEnter) + actionWords(stage.onExit);
	return (
		<>
			<div className={styles.fields}>
				<TextField
					label="Name"
					required
					value={stage.name}
					error={part.error("name")}
					onEnd={settle}
					onChange={(name) => part.typed({ name: name ?? "" })}
				/>
				<PromptField
					label="Prompt"
					value={stage.systemPrompt}
					error={part.error("systemPrompt")}
					onEnd={settle}
					onChange={(systemPrompt) => part.typed({ systemPrompt })}
					placeholder="What the model should do in this stage. {$name} puts a variable in."
				/>
				<SelectField
					label="Kind"
					options={KINDS}
					value={stage.kind ?? "chat"}
					onChange={(kind) => part.chosen({ kind: kind === "chat" ? undefined : kind })}
				/>
				<SwitchField
					label="Speaks first when entered"
					value={stage.speakOnEnter ?? false}
					onChange={(on) => part.chosen({ speakOnEnter: on || undefined })}
				/>
				<Group gap="xs">
					<Button
						variant="default"
						size="compact-sm"
						disabled={initial}
						onClick={() => setInitial(editor, stage.id)}
					>
						{initial ? "⚑ This is the start" : "⚑ Make it the start"}
					</Button>
				</Group>
			</div>
			<Section title="Transitions" open>
				<Leads playbook={playbook} stage={stage} />
			</Section>
			<Section
				title="Tools"
				summary={`${stage.tools?.length ?? 0} own, ${playbook.globalTools?.length ?? 0} of the playbook`}
				open={(stage.tools?.length ?? 0) > 0}
			>
				<ToolsForm part={part as unknown as Part<{ tools?: ToolDefinition[] }>} field="tools" />
				<ToolChoiceField part={part} playbook={playbook} resolved={resolved} />
				<SwitchField
					label="Tools first, then the reply (two phases)"
					value={stage.twoPhaseExecution ?? true}
					onChange={(on) => part.chosen({ twoPhaseExecution: on ? undefined : false })}
				/>
			</Section>
			<Section title="Model" summary={modelSummary(stage.llmConfig) ?? "as the playbook says"}>
				<ModelForm
					part={part.object("llmConfig")}
					resolved={resolved}
					inherited={playbook.defaultLLMConfig}
				/>
			</Section>
			<Section title="Limits" summary={limitsSummary(stage)}>
				<Limits part={part} />
			</Section>
			<Section title="On entering and leaving" summary={actions > 0 ? `${actions} actions` : "nothing"}>
				<ActionsForm stage={part} field="onEnter" tools={toolNames(playbook)} />
				<ActionsForm stage={part} field="onExit" tools={toolNames(playbook)} />
			</Section>
			<Section title="Context window" summary={stage.context ? "own settings" : "as the playbook says"}>
				<StagePolicyForm part={part.object("context")} otherwise={() => "as the playbook says"} />
			</Section>
			<Section title="More" summary={stage.id}>
				<TextField
					label="Description"
					rows={2}
					value={stage.description}
					error={part.error("description")}
					onEnd={settle}
					onChange={(description) => part.typed({ description })}
				/>
				<IdField key={stage.id} playbook={playbook} stage={stage} />
				<JsonField
					id={`${part.pointer}/metadata`}
					label="Metadata"
					value={stage.metadata}
					accept={isObject}
					onEnd={settle}
					onChange={(next) => part.typed({ metadata: next as NonNullable<Stage["metadata"]> })}
				/>
			</Section>
		</>
	);
}
