/** What the chat keeps in the browser: the last session of each playbook and the text being typed. */
import type { Playbook } from "../playbook/types";

export interface LastChat {
	readonly sessionId: string;
	/** Digest of the document the session began with. */
	readonly digest: string;
}

function read(key: string): string | null {
	try {
		return localStorage.getItem(key);
	} catch {
		return null;
	}
}

function write(key: string, value: string | null): void {
	try {
		if (value === null) localStorage.removeItem(key);
		else localStorage.setItem(key, value);
	} catch {
		// Storage is full or forbidden: remembered as long as the page lives.
	}
}

const chatKey = (playbookId: string) => `ps.chat.${playbookId}`;
const draftKey = (playbookId: string) => `ps.typed.${playbookId}`;

export function lastChat(playbookId: string): LastChat | null {
	try {
		const kept: unknown = JSON.parse(read(chatKey(playbookId)) ?? "null");
		const chat = kept as Partial<LastChat> | null;
		return typeof chat?.sessionId === "string" && typeof chat.digest === "string"
			? { sessionId: chat.sessionId, digest: chat.digest }
			: null;
	} catch {
		return null;
	}
}

export function rememberChat(playbookId: string, chat: LastChat | null): void {
	write(chatKey(playbookId), chat && JSON.stringify(chat));
}

export const typedText = (playbookId: string): string => read(draftKey(playbookId)) ?? "";

export function rememberTyped(playbookId: string, text: string): void {
	write(draftKey(playbookId), text || null);
}

/** Sorts keys and leaves out what means "not set", so that equal documents have one form. */
function canonical(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(canonical);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value)
		.filter(([, one]) => one !== undefined && one !== null)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([name, one]) => [name, canonical(one)] as const);
	return entries;
}

/** 53 bits that differ when the document differs in more than its drawing (where stages lie on the canvas). */
export function digest(playbook: Playbook): string {
	const { studio: _drawing, ...metadata } = (playbook.metadata ?? {}) as Record<string, unknown>;
	const text = JSON.stringify(canonical({ ...playbook, metadata }));
	let high = 0xdeadbeef;
	let low = 0x41c6ce57;
	for (let index = 0; index < text.length; index++) {
		const code = text.charCodeAt(index);
		high = Math.imul(high ^ code, 2654435761);
		low = Math.imul(low ^ code, 1597334677);
	}
	return `${(high >>> 0).toString(36)}-${(low >>> 0).toString(36)}`;
}
