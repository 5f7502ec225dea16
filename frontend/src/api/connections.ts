/** How the server reaches models: what can be chosen, who would answer a stage, and tests of a connection. */
import { createStore } from "zustand/vanilla";
import { request } from "./client";
import { getMe, type Me } from "./playbooks";
import type { components } from "./schema.gen";

type Schemas = components["schemas"];
export type ConnectionsView = Schemas["ConnectionsView"];
export type ConnectionView = Schemas["ConnectionView"];
export type Trial = Schemas["Trial"];
export type ModelList = Schemas["ModelList"];
export type Resolved = Schemas["Resolved"];
export type OfferedModel = Me["models"][number];
/** A stage's settings and its playbook's. */
export type ToResolve = Schemas["ToResolve"];

const base = "/api/connections";
const one = (name: string) => `${base}/${encodeURIComponent(name)}`;

export const listConnections = () => request<ConnectionsView>("GET", base);
export const testConnection = (name: string, model: string | null, signal: AbortSignal) =>
	request<Trial>("POST", `${one(name)}/test`, { model }, { signal });
const listModels = (name: string) => request<ModelList>("GET", `${one(name)}/models`);
/** Who would answer a stage with these settings, and which of them would not be sent. */
export const resolveModel = (asked: ToResolve, signal?: AbortSignal) =>
	request<Resolved>("POST", `${base}/resolve`, asked, signal ? { signal } : {});

/** The page that shows the connections. */
export const CONNECTIONS_PAGE = "/connections";

/** What can be chosen: the known models, the connections, and what their servers said they have. */
export interface ModelChoices {
	readonly models: readonly OfferedModel[];
	readonly connections: readonly ConnectionView[];
	/** By connection; `null` while the server is asked. */
	readonly lists: ReadonlyMap<string, ModelList | null>;
	readonly loaded: boolean;
}

/** One for all panels: they ask for the same things. */
export const modelChoices = createStore<ModelChoices>(() => ({
	models: [],
	connections: [],
	lists: new Map(),
	loaded: false,
}));

let loading: Promise<void> | null = null;

/** Asks the server once; again after a failure. Panels show what there is meanwhile. */
export function loadChoices(): Promise<void> {
	loading ??= Promise.all([getMe(), listConnections()])
		.then(([me, view]) =>
			modelChoices.setState({ models: me.models, connections: view.connections, loaded: true }),
		)
		.catch(() => {
			loading = null;
		});
	return loading;
}

/** Forgets what is known, so that the next look asks again. */
export function forgetChoices(): void {
	loading = null;
	modelChoices.setState(modelChoices.getInitialState(), true);
}

function noteList(name: string, list: ModelList | null): void {
	modelChoices.setState(({ lists }) => ({ lists: new Map(lists).set(name, list) }));
}

/** Has the servers at addresses of their own say what they have; each is asked once. */
export function askForModels(): void {
	const { connections, lists } = modelChoices.getState();
	for (const { name, usable, url } of connections) {
		if (!usable || url === "" || lists.has(name)) continue;
		noteList(name, null);
		listModels(name).then(
			(list) => noteList(name, list),
			() => noteList(name, { models: [], problem: "The studio could not be asked." }),
		);
	}
}

/** A model as menus show it. */
export interface Choice {
	/** `CONNECTION/MODEL`: what a session is told to use. */
	readonly id: string;
	readonly connection: string;
	readonly model: string;
	readonly label: string;
	readonly available: boolean;
	readonly note: string;
}

/** All models but the rehearsal: the known ones, then what servers said, each once. */
export function allChoices({ models, lists, connections }: ModelChoices): Choice[] {
	const found = new Map<string, Choice>();
	const add = (connection: string, model: string, more: Pick<Choice, "label" | "available" | "note">) => {
		const id = `${connection}/${model}`;
		if (!found.has(id)) found.set(id, { id, connection, model, ...more });
	};
	for (const { provider, id, label, available, note } of models) {
		if (provider !== "rehearsal") add(provider, id, { label, available, note: note ?? "" });
	}
	for (const { name } of connections) {
		for (const model of lists.get(name)?.models ?? []) {
			add(name, model, { label: model, available: true, note: "" });
		}
	}
	return [...found.values()];
}

/** No request can be sent to any model: everything is rehearsed. */
export function onlyRehearsal({ loaded, connections }: ModelChoices): boolean {
	return loaded && !connections.some(({ usable }) => usable);
}
