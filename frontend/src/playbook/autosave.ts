/**
 * Saving by itself: at most one request at a time, always the newest document, always on the revision that the
 * server gave last. What is not saved yet is kept in this browser. A stale revision stops everything until a
 * person has chosen: nothing is ever overwritten silently.
 */
import { sameJson } from "./same";
import type { Playbook } from "./types";

export interface Theirs {
	readonly revision: number;
	readonly document: Playbook;
	readonly updatedAt: string;
}

export type SendOutcome =
	| { readonly kind: "saved"; readonly revision: number }
	| { readonly kind: "stale"; readonly theirs: Theirs }
	| { readonly kind: "offline" }
	| { readonly kind: "refused"; readonly message: string };

export type SaveState =
	/** `at` is the time of the save (ms), null if nothing was saved since the document was opened. */
	| { readonly kind: "saved"; readonly at: number | null }
	| { readonly kind: "unsaved" }
	| { readonly kind: "saving" }
	| { readonly kind: "offline" }
	| { readonly kind: "refused"; readonly message: string }
	| { readonly kind: "conflict"; readonly theirs: Theirs };

/** An edit that the server does not have, and the revision it was made on. */
export interface Backup {
	readonly document: Playbook;
	readonly revision: number;
	readonly at: number;
}

export interface AutosaveParts {
	send(document: Playbook, revision: number): Promise<SendOutcome>;
	/** Calls back after `ms`; the answer cancels it. */
	later(ms: number, then: () => void): () => void;
	now(): number;
	backup: { write(backup: Backup): void; clear(): void };
	onState(state: SaveState): void;
}

export const PAUSE_MS = 800;
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];

export class Autosave {
	#latest: Playbook;
	#saved: Playbook;
	#revision: number;
	#state: SaveState = { kind: "saved", at: null };
	#cancelTimer: () => void = () => {};
	#running: Promise<void> | null = null;
	#failures = 0;
	/** Sent without hearing back: it may have arrived. */
	#unanswered: Playbook | null = null;
	#closed = false;
	readonly #parts: AutosaveParts;

	constructor(document: Playbook, revision: number, parts: AutosaveParts) {
		this.#latest = document;
		this.#saved = document;
		this.#revision = revision;
		this.#parts = parts;
	}

	get state(): SaveState {
		return this.#state;
	}

	get revision(): number {
		return this.#revision;
	}

	get isSaved(): boolean {
		return this.#latest === this.#saved;
	}

	/** The document changed: it will be saved after a pause. */
	changed(document: Playbook): void {
		if (document === this.#latest) return;
		this.#latest = document;
		this.keep();
		if (this.#state.kind === "conflict") return;
		if (this.isSaved && this.#running === null) {
			this.#cancelTimer();
			this.#show({ kind: "saved", at: this.#parts.now() });
			this.#parts.backup.clear();
			return;
		}
		if (this.#state.kind !== "offline") {
			if (this.#running === null) this.#show({ kind: "unsaved" });
			this.#schedule(PAUSE_MS);
		}
	}

	/** Keeps what is unsaved in this browser. */
	keep(): void {
		if (this.isSaved) return;
		this.#parts.backup.write({ document: this.#latest, revision: this.#revision, at: this.#parts.now() });
	}

	/** Saves now and waits until the newest document is saved; false if it could not be. */
	async flush(): Promise<boolean> {
		while (!this.isSaved && this.#state.kind !== "conflict") {
			const before = this.#latest;
			await this.#save();
			if (this.#latest === before && !this.isSaved) return false;
		}
		return this.isSaved;
	}

	/** The network may be back. */
	async retry(): Promise<void> {
		if (this.#state.kind === "offline") await this.#save();
	}

	/** After a conflict: `document` stands on their revision now. Equal to theirs, or knowingly not. */
	async rebase(theirs: Theirs, document: Playbook): Promise<void> {
		this.#revision = theirs.revision;
		this.#saved = theirs.document;
		this.#latest = document;
		this.#failures = 0;
		if (this.isSaved) {
			this.#parts.backup.clear();
			this.#show({ kind: "saved", at: this.#parts.now() });
			return;
		}
		this.#show({ kind: "unsaved" });
		await this.#save();
	}

	/** Someone else's save was found on opening: what is kept here stands on an older revision. */
	conflict(theirs: Theirs, mine: Playbook): void {
		this.#latest = mine;
		this.keep();
		this.#show({ kind: "conflict", theirs });
	}

	close(): void {
		this.#closed = true;
		this.#cancelTimer();
	}

	#show(state: SaveState): void {
		this.#state = state;
		if (!this.#closed) this.#parts.onState(state);
	}

	#schedule(ms: number): void {
		this.#cancelTimer();
		this.#cancelTimer = this.#parts.later(ms, () => void this.#save());
	}

	#save(): Promise<void> {
		this.#cancelTimer();
		this.#running ??= this.#sendNewest().finally(() => {
			this.#running = null;
		});
		return this.#running;
	}

	async #sendNewest(): Promise<void> {
		if (this.isSaved || this.#state.kind === "conflict") return;
		const document = this.#latest;
		this.#show({ kind: "saving" });
		this.#received(await this.#parts.send(document, this.#revision), document);
	}

	#afterSave(): void {
		if (this.isSaved) {
			this.#parts.backup.clear();
			this.#show({ kind: "saved", at: this.#parts.now() });
		} else {
			this.keep();
			this.#show({ kind: "unsaved" });
			this.#schedule(PAUSE_MS);
		}
	}

	#received(outcome: SendOutcome, document: Playbook): void {
		switch (outcome.kind) {
			case "saved":
				this.#revision = outcome.revision;
				this.#saved = document;
				this.#failures = 0;
				this.#unanswered = null;
				this.#afterSave();
				return;
			case "stale":
				if (this.#unanswered && sameJson(this.#unanswered, outcome.theirs.document)) {
					this.#received({ kind: "saved", revision: outcome.theirs.revision }, this.#unanswered);
					return;
				}
				this.#show({ kind: "conflict", theirs: outcome.theirs });
				return;
			case "offline":
				this.#unanswered = document;
				this.#show({ kind: "offline" });
				this.#schedule(RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)] ?? PAUSE_MS);
				return;
			case "refused":
				this.#show({ kind: "refused", message: outcome.message });
				return;
			default:
				outcome satisfies never;
		}
	}
}

/** "Saved 2 s ago", "Offline – kept in this browser, will be sent" … */
export function saveWords(state: SaveState, now: number): string {
	switch (state.kind) {
		case "saved":
			return state.at === null ? "Saved" : `Saved ${ago(now - state.at)}`;
		case "unsaved":
			return "Unsaved edits";
		case "saving":
			return "Saving…";
		case "offline":
			return "Offline – kept in this browser, will be sent";
		case "refused":
			return `Could not save: ${state.message}`;
		case "conflict":
			return "Could not save: someone else changed this playbook";
		default:
			return state satisfies never;
	}
}

/** A time span in the past: "just now", "5 s ago", "3 min ago", "2 h ago", "4 days ago". */
export function ago(milliseconds: number): string {
	const seconds = Math.round(milliseconds / 1000);
	if (seconds < 1) return "just now";
	if (seconds < 60) return `${seconds} s ago`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
	if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
	const days = Math.floor(seconds / 86_400);
	return days === 1 ? "yesterday" : `${days} days ago`;
}
