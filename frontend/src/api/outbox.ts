/** Messages that the log does not have yet, kept over a reload of the page. */
import type { Outgoing } from "./liveState";

const key = (sessionId: string) => `ps.outbox.${sessionId}`;

function isOutgoing(value: unknown): value is Outgoing {
	const one = value as Partial<Outgoing> | null;
	return typeof one?.clientId === "string" && typeof one.text === "string";
}

export function loadOutbox(sessionId: string): readonly Outgoing[] {
	try {
		const kept: unknown = JSON.parse(localStorage.getItem(key(sessionId)) ?? "[]");
		return Array.isArray(kept)
			? kept.filter(isOutgoing).map((one) => ({ ...one, refused: one.refused ?? null }))
			: [];
	} catch {
		return [];
	}
}

/** Storage may be full or forbidden: the messages then live as long as the page. */
export function saveOutbox(sessionId: string, outbox: readonly Outgoing[]): void {
	try {
		if (outbox.length === 0) localStorage.removeItem(key(sessionId));
		else localStorage.setItem(key(sessionId), JSON.stringify(outbox));
	} catch {
		// Nothing is lost while the page lives.
	}
}
