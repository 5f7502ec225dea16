/**
 * The document being edited, with undo and redo. An edit is a command and a few words for what it did.
 * Edits of one group (typing into one field) are one step until the group is settled: by a pause, by leaving
 * the field, or by an edit of another group. Selection and zoom are not here, so they are never steps.
 */
import { type TemporalState, temporal } from "zundo";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Playbook } from "./types";

const LIMIT = 1000;

export interface Edited {
	readonly document: Playbook;
	/** What led to this document, in words: "Add stage". Empty for a document as it was loaded. */
	readonly change: string;
}

export interface EditOptions {
	/** Edits of the same group that follow one another are one step. */
	readonly group?: string;
}

export type Command = (playbook: Playbook) => Playbook;

export interface History {
	readonly store: StoreApi<Edited>;
	readonly temporal: StoreApi<TemporalState<Edited>>;
	edit(change: string, command: Command, options?: EditOptions): void;
	/** Ends the running group, so that the next edit is a step of its own. */
	settle(): void;
	/** Both give the words for what was undone or redone, or null if there was nothing. */
	undo(): string | null;
	redo(): string | null;
	/** Another document: the history starts anew. */
	load(document: Playbook): void;
}

export function createHistory(document: Playbook): History {
	const store = createStore<Edited>()(
		temporal(() => ({ document, change: "" }), {
			limit: LIMIT,
			equality: (past, current) => past.document === current.document,
		}),
	);
	const past = store.temporal as StoreApi<TemporalState<Edited>>;
	let group: string | undefined;

	const settle = () => {
		group = undefined;
		past.getState().resume();
	};

	const edit: History["edit"] = (change, command, options = {}) => {
		const before = store.getState().document;
		const after = command(before);
		if (after === before) return;
		if (options.group === undefined || options.group !== group) settle();
		store.setState({ document: after, change });
		if (options.group !== undefined) {
			group = options.group;
			past.getState().pause();
		}
	};

	const undo = () => {
		settle();
		const { pastStates, undo: back } = past.getState();
		if (pastStates.length === 0) return null;
		const { change } = store.getState();
		back();
		return change;
	};

	const redo = () => {
		settle();
		const { futureStates, redo: again } = past.getState();
		if (futureStates.length === 0) return null;
		again();
		return store.getState().change;
	};

	const load = (loaded: Playbook) => {
		settle();
		store.setState({ document: loaded, change: "" });
		past.getState().clear();
	};

	return { store, temporal: past, edit, settle, undo, redo, load };
}
