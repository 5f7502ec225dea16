/**
 * Saving by itself: at most one request at a time, always the newest document, always on the revision that the
 * server gave last. What is not saved yet is kept in this browser. A stale revision is merged where nothing
 * conflicts; else everything stops until a person has chosen: nothing is ever overwritten silently.
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
	/** The document of that revision, to merge from; backups of older visits have none. */
	readonly base?: Playbook | null;
}

/** Both edits in one document, which stands on their revision. */
export interface MergedEdits {
	readonly document: Playbook;
	readonly theirs: Theirs;
}

export interface AutosaveParts {
	send(document: Playbook, revision: number): Promise<SendOutcome>;
	/** Calls back after `ms`; the answer cancels it. */
	later(ms: number, then: () => void): () => void;
	/** Merges with what the server has; null if something conflicts or cannot be asked. */
	merge(base: Playbook, mine: Playbook): Promise<MergedEdits | null>;
	/** Shows the merged document in place of mine. */
	adopt(merged: MergedEdits): void;
	now(): number;
	backup: { write(backup: Backup): void; clear(): void };
	onState(state: SaveState): void;
}

export const PAUSE_MS = 800;
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000, 30_000];

export class Autosave {
	#latest: Playbook;
	#saved: Playbook;
	/** What my edits started from; null if that is not known any more. */
	#base: Playbook | null;
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
		this.#base = document;
		this.#revision = revision;
		this.#parts = parts;
	}

	get base(): Playbook | null {
		return this.#base;
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
		const [document, revision, base] = [this.#latest, this.#revision, this.#base];
		this.#parts.backup.write({ document, revision, at: this.#parts.now(), base });
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
		if (this.#standOn(theirs, document)) await this.#save();
	}

	/** Someone else's save was found on opening: what is kept here stands on an older revision, and was made from
	 * `base`, if that is known. */
	async conflict(theirs: Theirs, mine: Playbook, base: Playbook | null): Promise<void> {
		this.#latest = mine;
		this.#base = base;
		this.keep();
		if (await this.#merge(theirs)) await this.#save();
	}

	close(): void {
		this.#closed = true;
		this.#cancelTimer();
	}

	/** False if there is nothing to save. */
	#standOn(theirs: Theirs, document: Playbook): boolean {
		this.#revision = theirs.revision;
		this.#saved = theirs.document;
		this.#base = theirs.document;
		this.#latest = document;
		this.#failures = 0;
		if (sameJson(document, theirs.document)) this.#saved = document;
		if (this.isSaved) this.#parts.backup.clear();
		this.#show(this.isSaved ? { kind: "saved", at: this.#parts.now() } : { kind: "unsaved" });
		return !this.isSaved;
	}

	/** True if the edits of both are in one document now, and it is to be saved. */
	async #merge(theirs: Theirs): Promise<boolean> {
		if (this.#base === null) return this.#ask(theirs);
		while (true) {
			const mine = this.#latest;
			const merged = await this.#parts.merge(this.#base, mine);
			if (merged === null) return this.#ask(theirs);
			if (this.#latest !== mine) continue; // edited while the server was asked
			const unsaved = this.#standOn(merged.theirs, merged.document);
			this.#parts.adopt(merged);
			return unsaved;
		}
	}

	#ask(theirs: Theirs): false {
		this.#show({ kind: "conflict", theirs });
		return false;
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
		await this.#received(await this.#parts.send(document, this.#revision), document);
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

	async #received(outcome: SendOutcome, document: Playbook): Promise<void> {
		switch (outcome.kind) {
			case "saved":
				this.#revision = outcome.revision;
				this.#saved = document;
				this.#base = document;
				this.#failures = 0;
				this.#unanswered = null;
				this.#afterSave();
				return;
			case "stale":
				if (this.#unanswered && sameJson(this.#unanswered, outcome.theirs.document)) {
					await this.#received({ kind: "saved", revision: outcome.theirs.revision }, this.#unanswered);
					return;
				}
				if (await this.#merge(outcome.theirs)) await this.#sendNewest();
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
