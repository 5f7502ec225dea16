import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import {
	allChoices,
	askForModels,
	CONNECTIONS_PAGE,
	loadChoices,
	type ModelChoices,
	modelChoices,
	type Resolved,
} from "../../api/connections";
import type { LLMConfig } from "../../playbook/types";
import { NumberField, TagsField, TextField } from "../../ui/fields";
import { SuggestField, type Suggestion } from "../../ui/SuggestField";
import type { Part } from "./part";
import styles from "./properties.module.css";
import { problemOrLeftOut } from "./useResolved";

interface ModelFormProps {
	part: Part<LLMConfig>;
	/** Who would answer with these settings. */
	resolved: Resolved | null;
	/** The playbook's settings, in a stage. */
	inherited?: LLMConfig | null | undefined;
}

/** Those that can be used first; what a connection lacks stands once, over its models. */
function modelSuggestions(choices: ModelChoices): Suggestion[] {
	const all = allChoices(choices);
	const usableFirst = [...all.filter((one) => one.available), ...all.filter((one) => !one.available)];
	return usableFirst.map(({ id, connection, model, label, note }) => ({
		value: id,
		label: model,
		note: label === model ? "" : label,
		group: note ? `${connection} · ${note}` : connection,
	}));
}

function connectionSuggestions({ connections }: ModelChoices): Suggestion[] {
	const found = connections.map(({ name, note, url, model }) => ({
		value: name,
		label: name,
		note: note || [model, url].filter(Boolean).join(" · "),
		group: "Connections",
	}));
	return [
		...found,
		{ value: "rehearsal", label: "rehearsal", note: "no model: fixed rules", group: "Without a model" },
	];
}

/** The model, unless it is known to be another connection's: then the new one's own answers. */
function keptModel(choices: ModelChoices, connection: string, model: string | null | undefined) {
	const known = allChoices(choices).filter((one) => one.model === model);
	const stays = known.length === 0 || known.some((one) => one.connection === connection);
	return stays ? (model ?? undefined) : undefined;
}

/** That the server is asked for its models, or why it gave no list. */
function listWords({ lists }: ModelChoices, name: string): string {
	const list = lists.get(name);
	if (list === null) return `Asking ${name} for its models…`;
	return list?.problem ? `${name}: ${list.problem}` : "";
}

/** "Answered by claude-sonnet-5 over anthropic", or why it is the rehearsal. */
function Answers({ resolved }: { resolved: Resolved | null }) {
	const words = () => {
		if (resolved === null) return null;
		if (resolved.answers === "model") {
			return (
				<>
					Answered by <b>{resolved.model}</b> over {resolved.connection}.
				</>
			);
		}
		const rehearsed = resolved.answers === "rehearsal" ? "Played by the rehearsal. " : "";
		return (
			<>
				{rehearsed}
				{resolved.reason}{" "}
				{resolved.reason && (
					<a href={CONNECTIONS_PAGE} target="_blank" rel="noreferrer">
						Connections
					</a>
				)}
			</>
		);
	};
	return (
		<p
			className={styles.answers}
			role="status"
			data-trouble={resolved?.reason ? resolved.answers : undefined}
		>
			{words()}
		</p>
	);
}

/** Model and connection: choosing a model says both, typing one says the model only. */
function Which({ part, inherited, resolved }: ModelFormProps) {
	const { value, settle } = part;
	const choices = useStore(modelChoices);
	const models = useMemo(() => modelSuggestions(choices), [choices]);
	const connections = useMemo(() => connectionSuggestions(choices), [choices]);
	useEffect(() => void loadChoices(), []);

	const alone = value.model || value.provider ? undefined : inherited;
	return (
		<>
			<SuggestField
				label="Model"
				placeholder={
					alone?.model ? `${alone.model} (of the playbook)` : value.provider ? "the connection’s own" : "none"
				}
				description={listWords(choices, resolved?.connection ?? "") || null}
				value={value.model ?? ""}
				error={part.error("model")}
				suggestions={models}
				onOpen={() => void loadChoices().then(askForModels)}
				onTyped={(model) => part.typed({ model: model || undefined })}
				onChosen={({ value: id, label }) =>
					part.chosen({ provider: id.slice(0, id.indexOf("/")), model: label })
				}
				onEnd={settle}
			/>
			<SuggestField
				label="Connection"
				placeholder={
					alone?.provider ? `${alone.provider} (of the playbook)` : value.model ? "that of the model" : "none"
				}
				value={value.provider ?? ""}
				error={part.error("provider")}
				suggestions={connections}
				onTyped={(provider) => part.typed({ provider: provider || undefined })}
				onChosen={({ value: provider }) =>
					part.chosen({ provider, model: keptModel(choices, provider, value.model) })
				}
				onEnd={settle}
			/>
			<Answers resolved={resolved} />
		</>
	);
}

/** Which model is asked, and how. */
export function ModelForm(props: ModelFormProps) {
	const { part, inherited, resolved } = props;
	const { value, settle } = part;
	const asPlaybook = (field: keyof LLMConfig) => {
		const set = inherited?.[field];
		return set === undefined || set === null ? "default" : `${String(set)} (of the playbook)`;
	};
	const error = (field: string) => problemOrLeftOut(part, field, resolved);
	return (
		<>
			<Which {...props} />
			<NumberField
				label="Temperature"
				decimals
				min={0}
				max={2}
				step={0.1}
				placeholder={asPlaybook("temperature")}
				value={value.temperature}
				error={error("temperature")}
				onEnd={settle}
				onChange={(temperature) => part.typed({ temperature })}
			/>
			<NumberField
				label="Reply at most"
				unit="tokens"
				min={1}
				placeholder={asPlaybook("maxTokens")}
				value={value.maxTokens}
				error={error("maxTokens")}
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
				error={error("topP")}
				onEnd={settle}
				onChange={(topP) => part.typed({ topP })}
			/>
			<TextField
				label="Effort"
				placeholder={asPlaybook("effort")}
				value={value.effort}
				error={error("effort")}
				onEnd={settle}
				onChange={(effort) => part.typed({ effort })}
			/>
			<TagsField
				label="Stop sequences"
				value={value.stopSequences}
				error={error("stopSequences")}
				onEnd={settle}
				onChange={(list) => part.chosen({ stopSequences: list.length > 0 ? list : undefined })}
			/>
		</>
	);
}

/** What is set, in a few words; null if nothing is. */
export function modelSummary(config: LLMConfig | null | undefined): string | null {
	if (!config || Object.keys(config).length === 0) return null;
	if (config.model) return config.model;
	return config.provider ?? `${Object.keys(config).length} set`;
}
