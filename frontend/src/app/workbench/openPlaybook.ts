/**
 * A playbook that is open: its editor, its autosave and its problems, wired to the server and to this browser's
 * storage. No React: the workbench only shows it.
 */
import { createStore, type StoreApi } from "zustand/vanilla";
import { ApiError } from "../../api/client";
import {
	type CurrentDraft,
	type Diagnostic,
	type MergedDraft,
	mergeDraft,
	type PlaybookDetail,
	saveDraft,
	validate,
} from "../../api/playbooks";
import { createLiveSession, type LiveSessionStore } from "../../api/session";
import { createEditor, type Editor, type EditorHost } from "../../editor/editor";
import { dropStaleSelection } from "../../editor/operations";
import {
	Autosave,
	type MergedEdits,
	type SaveState,
	type SendOutcome,
	type Theirs,
} from "../../playbook/autosave";
import { completeLayout } from "../../playbook/layout";
import { arrangeProblems } from "../../playbook/problems";
import type { Playbook } from "../../playbook/types";
import { openBackups } from "./backups";

const VALIDATE_PAUSE_MS = 300;

export interface Saving {
	readonly state: SaveState;
	readonly revision: number;
	/** Edits of an earlier visit were found in this browser and brought back. */
	readonly restored: boolean;
	/** How many of their edits were merged into mine, each time that happened. */
	readonly merged: readonly number[];
}

export interface OpenPlaybook {
	readonly id: string;
	readonly editor: Editor;
	readonly live: LiveSessionStore;
	readonly autosave: Autosave;
	readonly saving: StoreApi<Saving>;
	/** Ends a conflict: with their document, or with mine on top of theirs. */
	takeTheirs(theirs: Theirs): Promise<void>;
	overwrite(theirs: Theirs): Promise<void>;
	/** Ends it with a document that has both, and stands on their revision. */
	takeMerged(merged: MergedEdits): Promise<void>;
	close(): void;
}

function theirsFrom(body: unknown): Theirs | null {
	const current = (body as { current?: CurrentDraft } | undefined)?.current;
	return current ? { ...current, document: completeLayout(current.document) } : null;
}

export function theirsOf({ revision, theirs, updatedAt }: MergedDraft): Theirs {
	return { revision, updatedAt, document: completeLayout(theirs) };
}

function outcomeOf(error: unknown): SendOutcome {
	if (!(error instanceof ApiError)) return { kind: "refused", message: String(error) };
	const theirs = error.status === 409 ? theirsFrom(error.body) : null;
	if (theirs) return { kind: "stale", theirs };
	if (error.isOutage) return { kind: "offline" };
	if (error.status === 401)
		return {
			kind: "refused",
			message: "you are signed out. Sign in again; the edits are kept in this browser.",
		};
	return { kind: "refused", message: error.message };
}

/** Asks the server what is wrong with the document, a moment after it last changed; only the newest answer counts. */
function createChecker(editor: Editor) {
	let timer: ReturnType<typeof setTimeout> | undefined;
	let running: AbortController | undefined;
	const show = (document: Playbook, diagnostics: readonly Diagnostic[]) => {
		editor.ui.setState({ problems: arrangeProblems(document, diagnostics) });
	};
	const check = async (document: Playbook) => {
		running?.abort();
		const mine = new AbortController();
		running = mine;
		try {
			const { diagnostics } = await validate(document, mine.signal);
			if (!mine.signal.aborted) show(document, diagnostics);
		} catch {
			// Offline, or overtaken by the next edit: the problems shown stay until there is an answer.
		}
	};
	return {
		show,
		later(document: Playbook) {
			clearTimeout(timer);
			timer = setTimeout(() => void check(document), VALIDATE_PAUSE_MS);
		},
		stop() {
			clearTimeout(timer);
			running?.abort();
		},
	};
}

export function openPlaybook(detail: PlaybookDetail, host: EditorHost): OpenPlaybook {
	const { id, revision } = detail;
	const loaded = completeLayout(detail.document);
	const live = createLiveSession();
	const editor = createEditor(loaded, live, host);
	const checker = createChecker(editor);
	const backups = openBackups(id);
	const saving = createStore<Saving>(() => ({
		state: { kind: "saved", at: null },
		revision,
		restored: false,
		merged: [],
	}));
	const current = () => editor.history.store.getState().document;

	const send = async (document: Playbook, on: number): Promise<SendOutcome> => {
		try {
			const saved = await saveDraft(id, on, document);
			if (document === current()) checker.show(document, saved.diagnostics);
			return { kind: "saved", revision: saved.revision };
		} catch (error) {
			return outcomeOf(error);
		}
	};
	/** Null where a person has to choose, and where the server cannot say. */
	const merge = async (base: Playbook, mine: Playbook): Promise<MergedEdits | null> => {
		const merged = await mergeDraft(id, base, mine).catch(() => null);
		if (!merged || merged.conflicts.length > 0) return null;
		const taken = merged.taken.changes.length + merged.taken.layout.length;
		saving.setState((before) => ({ merged: [...before.merged, taken] }));
		return { document: completeLayout(merged.document), theirs: theirsOf(merged) };
	};
	const adopt = ({ document }: MergedEdits) => {
		editor.history.edit("Merge their edits", () => document);
		dropStaleSelection(editor);
	};
	const autosave: Autosave = new Autosave(loaded, revision, {
		send,
		merge,
		adopt,
		later: (ms, then) => {
			const timer = setTimeout(then, ms);
			return () => clearTimeout(timer);
		},
		now: Date.now,
		backup: backups,
		onState: (state) => saving.setState({ state, revision: autosave.revision }),
	});

	const unsubscribe = editor.history.store.subscribe(({ document }, before) => {
		if (document === before.document) return;
		autosave.changed(document);
		checker.later(document);
	});
	const online = () => void autosave.retry();
	const hidden = () => autosave.keep();
	const leaving = (event: BeforeUnloadEvent) => {
		autosave.keep();
		if (!autosave.isSaved) event.preventDefault();
	};
	window.addEventListener("online", online);
	window.addEventListener("pagehide", hidden);
	window.addEventListener("beforeunload", leaving);

	checker.show(loaded, detail.diagnostics);
	const kept = backups.read();
	if (kept && kept.revision === revision) {
		editor.history.edit("Restore unsaved edits", () => kept.document);
		saving.setState({ restored: true });
	} else if (kept) {
		editor.history.edit("Restore unsaved edits", () => kept.document);
		const theirs = { revision, document: loaded, updatedAt: detail.updatedAt };
		void autosave.conflict(theirs, kept.document, kept.base ?? null);
	}

	return {
		id,
		editor,
		live,
		autosave,
		saving,
		async takeTheirs(theirs) {
			editor.history.edit("Take their version", () => theirs.document);
			dropStaleSelection(editor);
			await autosave.rebase(theirs, theirs.document);
		},
		overwrite: (theirs) => autosave.rebase(theirs, current()),
		async takeMerged({ theirs, document }) {
			editor.history.edit("Merge both edits", () => document);
			dropStaleSelection(editor);
			await autosave.rebase(theirs, document);
		},
		close() {
			void autosave.flush();
			autosave.keep();
			unsubscribe();
			checker.stop();
			live.getState().close();
			window.removeEventListener("online", online);
			window.removeEventListener("pagehide", hidden);
			window.removeEventListener("beforeunload", leaving);
		},
	};
}
