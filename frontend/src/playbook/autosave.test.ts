import { beforeEach, describe, expect, it } from "vitest";
import {
	Autosave,
	ago,
	type Backup,
	type MergedEdits,
	PAUSE_MS,
	type SaveState,
	type SendOutcome,
	saveWords,
} from "./autosave";
import { renameStage } from "./commands";
import { sample } from "./sample.testdata";
import type { Playbook } from "./types";

/** A server and a clock that are turned by hand. */
class Bench {
	sent: { document: Playbook; revision: number; answer: (outcome: SendOutcome) => void }[] = [];
	states: SaveState["kind"][] = [];
	kept: Backup | null = null;
	asked: { base: Playbook; mine: Playbook }[] = [];
	adopted: Playbook[] = [];
	/** What the server merges an edit to; null if something conflicts. */
	mergesTo: ((mine: Playbook) => MergedEdits | null) | null = null;
	time = 0;
	timer: { at: number; then: () => void } | null = null;
	readonly document = sample();
	readonly autosave = new Autosave(this.document, 1, {
		send: (document, revision) =>
			new Promise((answer) => {
				this.sent.push({ document, revision, answer });
			}),
		later: (ms, then) => {
			const timer = { at: this.time + ms, then };
			this.timer = timer;
			return () => {
				if (this.timer === timer) this.timer = null;
			};
		},
		merge: async (base, mine) => {
			this.asked.push({ base, mine });
			return this.mergesTo?.(mine) ?? null;
		},
		adopt: ({ document }) => {
			this.adopted.push(document);
			this.autosave.changed(document);
		},
		now: () => this.time,
		backup: {
			write: (backup) => {
				this.kept = backup;
			},
			clear: () => {
				this.kept = null;
			},
		},
		onState: ({ kind }) => {
			this.states.push(kind);
		},
	});

	pass(ms: number): void {
		this.time += ms;
		if (this.timer && this.timer.at <= this.time) {
			const { then } = this.timer;
			this.timer = null;
			then();
		}
	}

	async answer(outcome: SendOutcome): Promise<void> {
		this.sent.at(-1)?.answer(outcome);
		await new Promise((done) => setTimeout(done, 0));
	}

	edit(name: string): Playbook {
		const document = renameStage(this.document, "triage", name);
		this.autosave.changed(document);
		return document;
	}
}

let bench: Bench;
beforeEach(() => {
	bench = new Bench();
});

describe("saving", () => {
	it("waits for a pause and sends once", async () => {
		bench.edit("A");
		bench.pass(PAUSE_MS - 1);
		const latest = bench.edit("AB");
		bench.pass(PAUSE_MS - 1);
		expect(bench.sent).toHaveLength(0);
		bench.pass(1);
		expect(bench.sent.map(({ document, revision }) => [document, revision])).toEqual([[latest, 1]]);
		await bench.answer({ kind: "saved", revision: 2 });
		expect(bench.states).toEqual(["unsaved", "unsaved", "saving", "saved"]);
		expect(bench.autosave.isSaved).toBe(true);
		expect(bench.kept).toBeNull();
	});

	it("has one request at a time, and then sends the newest on the newest revision", async () => {
		bench.edit("1");
		bench.pass(PAUSE_MS);
		for (const name of ["2", "3", "4", "5", "6"]) {
			bench.pass(300);
			bench.edit(name);
		}
		bench.pass(PAUSE_MS);
		expect(bench.sent).toHaveLength(1);
		await bench.answer({ kind: "saved", revision: 2 });
		bench.pass(PAUSE_MS);
		expect(bench.sent).toHaveLength(2);
		expect(bench.sent[1]?.revision).toBe(2);
		expect(bench.sent[1]?.document.stages[1]?.name).toBe("6");
	});

	it("has nothing to send when an edit was undone", () => {
		bench.edit("A");
		bench.autosave.changed(bench.document);
		bench.pass(PAUSE_MS);
		expect(bench.sent).toHaveLength(0);
		expect(bench.states.at(-1)).toBe("saved");
	});

	it("saves at once when asked, edits made meanwhile included", async () => {
		bench.edit("A");
		const flushed = bench.autosave.flush();
		bench.edit("B");
		await bench.answer({ kind: "saved", revision: 2 });
		await bench.answer({ kind: "saved", revision: 3 });
		expect(await flushed).toBe(true);
		expect(bench.sent.map(({ document }) => document.stages[1]?.name)).toEqual(["A", "B"]);
	});
});

describe("when the server cannot be reached", () => {
	it("keeps the edit in the browser and tries again", async () => {
		const latest = bench.edit("A");
		bench.pass(PAUSE_MS);
		await bench.answer({ kind: "offline" });
		expect(bench.states.at(-1)).toBe("offline");
		expect(bench.kept).toMatchObject({ document: latest, revision: 1 });
		bench.pass(1000);
		expect(bench.sent).toHaveLength(2);
		await bench.answer({ kind: "saved", revision: 2 });
		expect(bench.autosave.isSaved).toBe(true);
	});

	it("does not quarrel with its own save whose answer was lost", async () => {
		const lost = bench.edit("A");
		bench.pass(PAUSE_MS);
		await bench.answer({ kind: "offline" });
		bench.pass(1000);
		const theirs = { revision: 2, document: structuredClone(lost), updatedAt: "" };
		await bench.answer({ kind: "stale", theirs });
		expect(bench.autosave.isSaved).toBe(true);
		expect(bench.autosave.revision).toBe(2);
	});

	it("says that it failed when a save was asked for", async () => {
		bench.edit("A");
		const flushed = bench.autosave.flush();
		await bench.answer({ kind: "offline" });
		expect(await flushed).toBe(false);
	});
});

describe("when someone else saved", () => {
	const theirs = { revision: 7, document: { ...sample(), name: "Theirs" }, updatedAt: "" };

	beforeEach(async () => {
		bench.edit("Mine");
		bench.pass(PAUSE_MS);
		await bench.answer({ kind: "stale", theirs });
	});

	it("stops, and sends nothing more until a person has chosen", () => {
		bench.edit("Mine, further");
		bench.pass(60_000);
		expect(bench.sent).toHaveLength(1);
		expect(bench.autosave.state.kind).toBe("conflict");
		expect(bench.kept?.document.stages[1]?.name).toBe("Mine, further");
	});

	it("takes theirs", async () => {
		await bench.autosave.rebase(theirs, theirs.document);
		expect(bench.autosave.isSaved).toBe(true);
		expect(bench.kept).toBeNull();
	});

	it("overwrites knowingly, on their revision", async () => {
		const mine = renameStage(sample(), "triage", "Mine");
		void bench.autosave.rebase(theirs, mine);
		expect(bench.sent[1]).toMatchObject({ document: mine, revision: 7 });
		await bench.answer({ kind: "saved", revision: 8 });
		expect(bench.autosave.isSaved).toBe(true);
	});
});

describe("when someone else saved something that does not conflict", () => {
	const theirs = { revision: 7, document: { ...sample(), name: "Theirs" }, updatedAt: "" };
	const both = (mine: Playbook): MergedEdits => ({ document: { ...mine, name: "Theirs" }, theirs });

	it("saves both edits on their revision, and asks nobody", async () => {
		bench.mergesTo = both;
		const mine = bench.edit("Mine");
		bench.pass(PAUSE_MS);
		await bench.answer({ kind: "stale", theirs });
		expect(bench.asked).toEqual([{ base: bench.document, mine }]);
		expect(bench.sent[1]).toMatchObject({ revision: 7, document: { name: "Theirs" } });
		expect(bench.sent[1]?.document.stages[1]?.name).toBe("Mine");
		await bench.answer({ kind: "saved", revision: 8 });
		expect(bench.states).not.toContain("conflict");
		expect(bench.adopted).toHaveLength(1);
		expect(bench.autosave.isSaved).toBe(true);
	});

	it("merges again what was edited while the server was asked", async () => {
		let edited = false;
		bench.mergesTo = (mine) => {
			if (!edited) {
				edited = true;
				bench.edit("Further");
			}
			return both(mine);
		};
		bench.edit("Mine");
		bench.pass(PAUSE_MS);
		await bench.answer({ kind: "stale", theirs });
		expect(bench.adopted.map(({ stages }) => stages[1]?.name)).toEqual(["Further"]);
		expect(bench.sent[1]?.document.stages[1]?.name).toBe("Further");
	});

	it("has nothing left to save where mine was in theirs already", async () => {
		bench.mergesTo = () => ({ document: structuredClone(theirs.document), theirs });
		bench.edit("Mine");
		bench.pass(PAUSE_MS);
		await bench.answer({ kind: "stale", theirs });
		expect(bench.sent).toHaveLength(1);
		expect([bench.autosave.isSaved, bench.autosave.revision, bench.kept]).toEqual([true, 7, null]);
	});

	it("merges an edit of an earlier visit from what it was made on, and asks where that is not known", async () => {
		bench.mergesTo = both;
		const mine = renameStage(sample(), "triage", "Kept");
		await bench.autosave.conflict(theirs, mine, null);
		expect(bench.autosave.state.kind).toBe("conflict");
		void bench.autosave.conflict(theirs, mine, sample());
		await new Promise((done) => setTimeout(done, 0));
		expect(bench.sent[0]).toMatchObject({ revision: 7, document: { name: "Theirs" } });
	});
});

it("keeps a refused document and says why", async () => {
	bench.edit("A");
	bench.pass(PAUSE_MS);
	await bench.answer({ kind: "refused", message: "The name is too long." });
	expect(saveWords(bench.autosave.state, 0)).toBe("Could not save: The name is too long.");
	expect(bench.kept).not.toBeNull();
});

it("tells the time that has passed in words", () => {
	const spans = [400, 2000, 180_000, 7_200_000, 100_000_000, 300_000_000];
	expect(spans.map(ago)).toEqual(["just now", "2 s ago", "3 min ago", "2 h ago", "yesterday", "3 days ago"]);
});
