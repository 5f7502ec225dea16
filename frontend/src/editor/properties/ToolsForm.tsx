import { useState } from "react";
import { stageTitle } from "../../playbook/labels";
import type { MockResponse, Playbook, ToolDefinition, ToolImplementation } from "../../playbook/types";
import { SelectField, TextField } from "../../ui/fields";
import { JsonField } from "../../ui/JsonField";
import { StrictField } from "../../ui/StrictField";
import { isObject, refuseToolName } from "./accept";
import { DurationField } from "./DurationField";
import type { EntryOf, Part } from "./part";
import { AddButton, Entry, Section } from "./Section";

const POLICIES = [
	{ value: "parallel", label: "Together with other tools" },
	{ value: "sequential", label: "One after another" },
] as const;
const APPROVALS = [
	{ value: "never", label: "Never" },
	{ value: "first", label: "The first time" },
	{ value: "always", label: "Every time" },
] as const;
const KINDS = [
	{ value: "mock", label: "Mock: scripted answers" },
	{ value: "http", label: "HTTP request" },
	{ value: "expression", label: "Expression" },
	{ value: "python", label: "Python function on the server" },
	{ value: "mcp", label: "MCP server" },
	{ value: "client", label: "The connected client" },
] as const;
const METHODS = (["GET", "POST", "PUT", "PATCH", "DELETE"] as const).map((value) => ({
	value,
	label: value,
}));

type Kind = ToolImplementation["type"];
type Of<K extends Kind> = Extract<ToolImplementation, { type: K }>;

function newImplementation(type: Kind): ToolImplementation {
	switch (type) {
		case "mock":
			return { type, responses: [{ result: {} }] };
		case "http":
			return { type, url: "" };
		case "expression":
			return { type, expression: "" };
		case "python":
			return { type, name: "" };
		case "mcp":
			return { type, server: "", tool: "" };
		case "client":
			return { type };
		default:
			return type satisfies never;
	}
}

function MockForm({ part }: { part: Part<Of<"mock">> }) {
	return (
		<>
			{part.entries("responses").map((response, index) => (
				<ResponseEntry
					key={response.pointer}
					part={response as unknown as Part<MockResponse>}
					name={`answer ${index + 1}`}
					remove={() => part.remove("responses", index)}
				/>
			))}
			<AddButton onClick={() => part.append("responses", { result: {} } as EntryOf<Of<"mock">["responses"]>)}>
				Answer
			</AddButton>
		</>
	);
}

function ResponseEntry({
	part,
	name,
	remove,
}: {
	part: Part<MockResponse>;
	name: string;
	remove: () => void;
}) {
	const { value, settle } = part;
	return (
		<Entry name={name} onRemove={remove}>
			<TextField
				label="When"
				mono
				placeholder="always"
				value={value.when}
				error={part.error("when")}
				onEnd={settle}
				onChange={(when) => part.typed({ when })}
			/>
			<JsonField
				id={part.pointer}
				label="Result"
				value={value.result}
				onEnd={settle}
				onChange={(result) => part.typed({ result })}
			/>
			<TextField
				label="Error instead"
				value={value.error}
				onEnd={settle}
				onChange={(error) => part.typed({ error })}
			/>
			<DurationField
				label="Answers after"
				min={0}
				max={60_000}
				placeholder="0"
				value={value.delayMs}
				onEnd={settle}
				onChange={(delayMs) => part.typed({ delayMs })}
			/>
		</Entry>
	);
}

function HttpForm({ part }: { part: Part<Of<"http">> }) {
	const { value, settle, pointer } = part;
	const json = (field: "headers" | "query" | "body", label: string, accept?: typeof isObject) => (
		<JsonField
			id={`${pointer}/${field}`}
			label={label}
			value={value[field]}
			{...(accept ? { accept } : {})}
			onEnd={settle}
			onChange={(next) => part.typed({ [field]: next } as Partial<Of<"http">>)}
		/>
	);
	return (
		<>
			<SelectField
				label="Method"
				options={METHODS}
				value={value.method ?? "GET"}
				onChange={(method) => part.chosen({ method })}
			/>
			<TextField
				label="URL"
				mono
				required
				value={value.url}
				error={part.error("url")}
				description="{{secret.NAME}} is filled in on the server"
				onEnd={settle}
				onChange={(url) => part.typed({ url: url ?? "" })}
			/>
			{json("headers", "Headers", isObject)}
			{json("query", "Query", isObject)}
			{json("body", "Body")}
			<DurationField
				label="Time limit"
				min={1}
				max={300_000}
				placeholder="10 s"
				value={value.timeoutMs}
				error={part.error("timeoutMs")}
				onEnd={settle}
				onChange={(timeoutMs) => part.typed({ timeoutMs })}
			/>
			<TextField
				label="Path of the result in the answer"
				mono
				placeholder="the whole answer"
				value={value.resultPath}
				onEnd={settle}
				onChange={(resultPath) => part.typed({ resultPath })}
			/>
		</>
	);
}

function ImplementationFields({ part }: { part: Part<ToolImplementation> }) {
	const { value, settle } = part;
	const as = <K extends Kind>() => part as unknown as Part<Of<K>>;
	switch (value.type) {
		case "mock":
			return <MockForm part={as<"mock">()} />;
		case "http":
			return <HttpForm part={as<"http">()} />;
		case "expression":
			return (
				<TextField
					label="Expression"
					mono
					required
					rows={2}
					value={value.expression}
					error={part.error("expression")}
					onEnd={settle}
					onChange={(expression) => as<"expression">().typed({ expression: expression ?? "" })}
				/>
			);
		case "python":
			return (
				<TextField
					label="Name of the registered function"
					mono
					required
					value={value.name}
					error={part.error("name")}
					onEnd={settle}
					onChange={(name) => as<"python">().typed({ name: name ?? "" })}
				/>
			);
		case "mcp":
			return (
				<>
					<TextField
						label="Server"
						mono
						required
						value={value.server}
						error={part.error("server")}
						onEnd={settle}
						onChange={(server) => as<"mcp">().typed({ server: server ?? "" })}
					/>
					<TextField
						label="Tool of the server"
						mono
						required
						value={value.tool}
						error={part.error("tool")}
						onEnd={settle}
						onChange={(tool) => as<"mcp">().typed({ tool: tool ?? "" })}
					/>
				</>
			);
		case "client":
		case undefined:
			return null;
		default:
			return value satisfies never;
	}
}

interface ToolFormProps {
	part: Part<ToolDefinition>;
	/** It was just added: its name comes first. */
	fresh: boolean;
	remove: () => void;
}

function ToolForm({ part, fresh, remove }: ToolFormProps) {
	const { value, settle, pointer } = part;
	const kind = value.implementation?.type;
	return (
		<Entry name={`tool ${value.name}`} onRemove={remove}>
			<StrictField
				label="Name"
				refuse={refuseToolName}
				autoFocus={fresh}
				mono
				value={value.name}
				error={part.error("name")}
				onEnd={settle}
				onChange={(name) => part.typed({ name })}
			/>
			<TextField
				label="Description"
				rows={2}
				value={value.description}
				error={part.error("description")}
				onEnd={settle}
				onChange={(description) => part.typed({ description })}
			/>
			<JsonField
				id={`${pointer}/parameters`}
				label="Parameters (JSON Schema)"
				value={value.parameters}
				accept={isObject}
				error={part.error("parameters")}
				onEnd={settle}
				onChange={(next) => part.typed({ parameters: next as NonNullable<ToolDefinition["parameters"]> })}
			/>
			<SelectField
				label="Answered by"
				options={KINDS}
				clearable
				placeholder="nobody yet: an error is answered"
				value={kind}
				error={part.error("implementation")}
				onChange={(type) => part.chosen({ implementation: type && newImplementation(type) })}
			/>
			<ImplementationFields part={part.object("implementation") as unknown as Part<ToolImplementation>} />
			<SelectField
				label="Runs"
				options={POLICIES}
				value={value.executionPolicy ?? "parallel"}
				onChange={(executionPolicy) => part.chosen({ executionPolicy })}
			/>
			<SelectField
				label="Asks for approval"
				options={APPROVALS}
				value={value.approval ?? "never"}
				onChange={(approval) => part.chosen({ approval })}
			/>
			<TextField
				label="Result is kept in the variable"
				mono
				placeholder="none"
				value={value.saveAs}
				error={part.error("saveAs")}
				onEnd={settle}
				onChange={(saveAs) => part.typed({ saveAs })}
			/>
		</Entry>
	);
}

function newName(tools: readonly ToolDefinition[]): string {
	const names = new Set(tools.map(({ name }) => name));
	let number = 1;
	while (names.has(`tool_${number}`)) number++;
	return `tool_${number}`;
}

/** The tools of a stage or of the whole playbook, each folded to its name. */
export function ToolsForm<K extends string>({
	part,
	field,
}: {
	part: Part<{ [key in K]?: ToolDefinition[] }>;
	field: K;
}) {
	const parts = part.entries(field) as unknown as Part<ToolDefinition>[];
	const tools = parts.map(({ value }) => value);
	const [added, setAdded] = useState(-1);
	const add = () => {
		setAdded(tools.length);
		part.append(field, {
			name: newName(tools),
			implementation: newImplementation("mock"),
		} as EntryOf<{ [key in K]?: ToolDefinition[] }[K]>);
	};
	return (
		<>
			{parts.map((tool, index) => (
				<Section
					key={tool.pointer}
					open={index === added}
					title={tool.value.name || "tool without a name"}
					summary={tool.value.implementation?.type ?? "not implemented"}
				>
					<ToolForm part={tool} fresh={index === added} remove={() => part.remove(field, index)} />
				</Section>
			))}
			<AddButton onClick={add}>Tool</AddButton>
		</>
	);
}

/** Every tool name a stage's rules may speak of. */
export function toolNames(playbook: Playbook): string[] {
	const names = [...(playbook.globalTools ?? []), ...playbook.stages.flatMap(({ tools }) => tools ?? [])];
	return [...new Set(names.map(({ name }) => name))];
}

export function stageOptions(playbook: Playbook): { value: string; label: string }[] {
	return playbook.stages.map((stage) => ({ value: stage.id, label: stageTitle(stage) }));
}
