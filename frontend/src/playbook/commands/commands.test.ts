import { describe, expect, it } from "vitest";
import { freshStageId, freshTransitionId } from "../ids";
import { completeLayout, freePosition, layoutOf, withPositions } from "../layout";
import { sample } from "../sample.testdata";
import type { Playbook } from "../types";
import * as commands from ".";

const deepFrozen = (playbook: Playbook): Playbook => {
	const freeze = (value: unknown): void => {
		if (typeof value !== "object" || value === null) return;
		Object.freeze(value);
		for (const part of Object.values(value)) freeze(part);
	};
	freeze(playbook);
	return playbook;
};

describe("stages", () => {
	it("get an id that can be read, and another one when it is taken", () => {
		const once = commands.addStage(deepFrozen(sample()), { name: "Café & more", position: { x: 1, y: 2 } });
		expect(once.stages.at(-1)).toEqual({ id: "cafe-more", name: "Café & more", systemPrompt: "" });
		expect(freshStageId(once, "Café more")).toBe("cafe-more-2");
		expect(freshStageId(once, "Return")).toBe("return-2");
		expect(freshStageId(once, "初期")).toBe("初期");
	});

	it("are placed on the grid, in the studio's metadata only", () => {
		const added = commands.addStage(sample(), { name: "New", position: { x: 13, y: 101 } });
		expect(layoutOf(added).new).toEqual({ x: 16, y: 104 });
		expect(added.metadata?.owner).toBe("ops");
	});

	it("lose a field that is set to undefined, and keep the fields nobody knows", () => {
		const strange = commands.updateStage(sample(), "triage", { unheardOf: [1], maxTurns: 5 } as object);
		const cleared = commands.updateStage(deepFrozen(strange), "triage", { maxTurns: undefined });
		expect(cleared.stages[1]).toEqual({ ...sample().stages[1], unheardOf: [1] });
	});

	it("keep their transitions, their place and the start when their id changes", () => {
		const renamed = commands.changeStageId(deepFrozen(sample()), "greeting", "hello");
		expect(renamed.initialStage).toBe("hello");
		expect(renamed.transitions?.[0]?.from).toBe("hello");
		expect(layoutOf(renamed).hello).toEqual({ x: 0, y: 0 });
		expect(layoutOf(renamed).greeting).toBeUndefined();
		expect(commands.changeStageId(renamed, "hello", "triage")).toBe(renamed);
	});

	it("do not change the document when they are moved to where they are", () => {
		const playbook = sample();
		expect(commands.moveStages(playbook, { triage: { x: 360, y: 0 } })).toBe(playbook);
		const nudged = commands.nudgeStages(playbook, ["triage", "nobody"], { x: 8, y: -8 });
		expect(layoutOf(nudged).triage).toEqual({ x: 368, y: -8 });
	});
});

describe("transitions", () => {
	it("are decided by the model when they are drawn", () => {
		const id = freshTransitionId(sample(), "greeting", "farewell");
		const connected = commands.connect(deepFrozen(sample()), "greeting", "farewell");
		expect(connected.transitions?.at(-1)).toEqual({
			id,
			from: "greeting",
			condition: { type: "llm_decision" },
			action: { targetStage: "farewell" },
		});
	});

	it("keep everything else when an end is moved", () => {
		const moved = commands.reconnect(deepFrozen(sample()), "t-l", { target: "farewell" });
		expect(moved.transitions?.[1]?.action).toEqual({ targetStage: "farewell", mode: "call" });
		const returning = commands.reconnect(sample(), "l-r", { from: "triage", target: "farewell" });
		expect(returning.transitions?.[2]).toEqual({ ...sample().transitions?.[2], from: "triage" });
	});

	it("turn round, unless they have no other direction", () => {
		const turned = commands.reverse(sample(), "g-t");
		expect(turned.transitions?.[0]).toMatchObject({ from: "triage", action: { targetStage: "greeting" } });
		const playbook = sample();
		expect(commands.reverse(playbook, "l-r")).toBe(playbook);
	});

	it("leave no trace of being switched off and on, or moved up and down", () => {
		const off = commands.setDisabled(sample(), "g-t", true);
		expect(off.transitions?.[0]?.disabled).toBe(true);
		expect(commands.setDisabled(off, "g-t", false)).toEqual(sample());
		expect(commands.changePriority(commands.changePriority(sample(), "g-t", 1), "g-t", -1)).toEqual(sample());
	});
});

describe("removing", () => {
	it("leaves nothing dangling", () => {
		const rest = commands.removeSelection(deepFrozen(sample()), { stageIds: ["triage"], transitionIds: [] });
		expect(rest.transitions?.map(({ id }) => id)).toEqual(["l-r"]);
		expect(layoutOf(rest).triage).toBeUndefined();
	});

	it("gives the start to another stage", () => {
		const rest = commands.removeSelection(sample(), { stageIds: ["greeting"], transitionIds: [] });
		expect(rest.initialStage).toBe("triage");
	});

	it("never removes the last stage", () => {
		const playbook = sample();
		const all = { stageIds: playbook.stages.map(({ id }) => id), transitionIds: [] };
		expect(commands.removeSelection(playbook, all)).toBe(playbook);
	});
});

describe("copy and paste", () => {
	const selection = { stageIds: ["triage", "lookup"], transitionIds: [] };

	it("takes the transitions inside the selection and the tools they name along, with new ids", () => {
		const clip = commands.parseClip(commands.clipText(commands.clipOf(sample(), selection)));
		if (!clip) throw new Error("the clip was not read back");
		const empty: Playbook = {
			id: "x",
			name: "X",
			stages: [{ id: "triage", name: "T", systemPrompt: "" }],
			initialStage: "triage",
		};
		const { playbook, selection: pasted } = commands.paste(deepFrozen(empty), clip, { x: 100, y: 100 });
		expect(pasted.stageIds).toEqual(["triage-2", "lookup"]);
		expect(playbook.transitions?.map(({ from, action }) => [from, action.targetStage])).toEqual([
			["triage-2", "lookup"],
			["lookup", undefined],
		]);
		expect(playbook.globalTools?.map(({ name }) => name)).toEqual(["find_order"]);
		expect(layoutOf(playbook)).toMatchObject({ "triage-2": { x: 104, y: 104 }, lookup: { x: 104, y: 304 } });
	});

	it("refuses text that is something else", () => {
		expect(commands.parseClip("hello")).toBeNull();
		expect(commands.parseClip('{"kind":"playbook-studio/stages","stages":[{"id":1}]}')).toBeNull();
	});

	it("duplicates beside the original", () => {
		const { playbook, selection: copy } = commands.duplicate(sample(), {
			stageIds: ["greeting"],
			transitionIds: [],
		});
		expect(copy.stageIds).toEqual(["greeting-2"]);
		expect(layoutOf(playbook)["greeting-2"]).toEqual({ x: 32, y: 32 });
	});
});

describe("the layout", () => {
	it("gives places to stages without one and leaves the others alone", () => {
		const bare = { ...sample(), metadata: { studio: { layout: { triage: { x: 5, y: 7 } } } } };
		const complete = completeLayout(deepFrozen(bare));
		expect(layoutOf(complete).triage).toEqual({ x: 5, y: 7 });
		expect(Object.keys(layoutOf(complete))).toHaveLength(4);
		expect(completeLayout(complete)).toBe(complete);
	});

	it("finds a place where a new card covers no other", () => {
		const place = freePosition(sample(), { x: 360, y: 0 });
		const others = Object.values(layoutOf(sample()));
		for (const other of others) {
			expect(Math.abs(other.x - place.x) >= 214 || Math.abs(other.y - place.y) >= 84).toBe(true);
		}
	});

	it("leaves the room that is asked for above and below", () => {
		const between = withPositions(sample(), { triage: { x: 0, y: 0 }, lookup: { x: 0, y: 240 } });
		const tight = freePosition(between, { x: 0, y: 120 });
		expect(tight).toEqual({ x: 0, y: 120 });
		const roomy = freePosition(between, { x: 0, y: 120 }, 48);
		for (const { x, y } of Object.values(layoutOf(between))) {
			expect(Math.abs(x - roomy.x) >= 214 || Math.abs(y - roomy.y) >= 84 + 48).toBe(true);
		}
	});
});

describe("a condition of another kind", () => {
	it("can be saved as it is, and keeps the description", () => {
		const before = { type: "llm_decision", description: "Asks about money." } as const;
		expect(commands.conditionOfType("tool_call", before)).toEqual({ type: "tool_call", toolName: "tool" });
		expect(commands.conditionOfType("tool_call", before, "pay")).toEqual({
			type: "tool_call",
			toolName: "pay",
		});
		expect(commands.conditionOfType("intent", before)).toMatchObject({ description: "Asks about money." });
		expect(commands.conditionOfType("keyword", before)).toMatchObject({ source: "user" });
	});
});
