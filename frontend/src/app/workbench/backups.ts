/**
 * Unsaved edits in this browser's storage, one entry for each playbook and tab, so that two tabs never erase
 * what the other one has kept. A tab finds its own entry again after a reload; an entry of a tab that is gone is
 * taken over once nothing was written to it for a while.
 */
import type { Backup } from "../../playbook/autosave";

const PREFIX = "ps.unsaved.";
const ORPHANED_AFTER_MS = 30_000;

function tabId(): string {
	const known = sessionStorage.getItem("ps.tab");
	if (known) return known;
	const fresh = crypto.randomUUID();
	sessionStorage.setItem("ps.tab", fresh);
	return fresh;
}

function isBackup(value: unknown): value is Backup {
	const backup = value as Partial<Backup> | null;
	return (
		typeof backup?.revision === "number" &&
		typeof backup.at === "number" &&
		Array.isArray(backup.document?.stages)
	);
}

function readEntry(key: string): Backup | null {
	try {
		const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
		return isBackup(value) ? value : null;
	} catch {
		return null;
	}
}

export function openBackups(playbookId: string) {
	const start = `${PREFIX}${playbookId}.`;
	const own = `${start}${tabId()}`;

	const adopt = (): Backup | null => {
		const others = Object.keys(localStorage).filter((key) => key.startsWith(start) && key !== own);
		for (const key of others) {
			const backup = readEntry(key);
			if (!backup || Date.now() - backup.at < ORPHANED_AFTER_MS) continue;
			localStorage.setItem(own, JSON.stringify(backup));
			localStorage.removeItem(key);
			return backup;
		}
		return null;
	};

	return {
		read: (): Backup | null => readEntry(own) ?? adopt(),
		write(backup: Backup): void {
			try {
				localStorage.setItem(own, JSON.stringify(backup));
			} catch {
				// The storage is full or forbidden: the save to the server goes on, and leaving asks.
			}
		},
		clear(): void {
			localStorage.removeItem(own);
		},
	};
}
