import { describe, expect, test } from "vitest";
import { FakeLog, fakeCall, fakeSegment } from "../api/fakes";
import { layOut, placeLabels } from "./bar";
import { costWords, sumWords, totals } from "./costs";
import { rulesOfTurn, seenWords, stateAtCall } from "./facts";
import { changes, legendWords, pieces, provenance } from "./window";

describe("the bar", () => {
	const widths = (sizes: number[], width: number) => layOut(sizes, width).map((cell) => cell.width);

	test("is to scale", () => {
		expect(widths([100, 300], 400)).toEqual([100, 300]);
	});

	test("never makes a segment thinner than 3 px, and still fits", () => {
		const cells = layOut([5, 10_000, 0, 20_000], 600);
		expect(Math.min(...cells.map((cell) => cell.width))).toBeGreaterThanOrEqual(3);
		const last = cells.at(-1);
		expect((last?.x ?? 0) + (last?.width ?? 0)).toBeCloseTo(600);
	});

	test("grows past its width only when every segment is thinnest", () => {
		expect(widths([1, 1, 1], 6)).toEqual([3, 3, 3]);
		expect(widths([], 100)).toEqual([]);
	});

	test("labels of near cache points stand side by side, inside the bar, in order", () => {
		const lefts = placeLabels([10, 12, 390, 399], 40, 400);
		expect(lefts[0]).toBeGreaterThanOrEqual(0);
		for (const [index, left] of lefts.entries()) {
			expect(left + 40).toBeLessThanOrEqual(400);
			if (index > 0) expect(left).toBeGreaterThanOrEqual((lefts[index - 1] ?? 0) + 44);
		}
	});
});

describe("pieces of a window", () => {
	const segments = [
		fakeSegment("a", "base", 100, { start: 0 }),
		fakeSegment("b", "dialogue", 100, { start: 100 }),
		fakeSegment("c", "stage", 50, { start: 200 }),
	];
	const numbers = { fresh: 50, write5m: 100, write1h: 0, read: 100 };

	test("each carries the word for what happened to most of it", () => {
		const shares = [
			{ segment: "a", read: 100, written: 0, fresh: 0 },
			{ segment: "b", read: 10, written: 90, fresh: 0 },
			{ segment: "c", read: 0, written: 0, fresh: 50 },
		];
		const call = fakeCall({ segments, shares, usage: { ...numbers, output: 5 }, predicted: numbers });
		expect(pieces(call).map((piece) => [piece.fate, piece.missed])).toEqual([
			["read", false],
			["written", false],
			["fresh", false],
		]);
	});

	test("what was predicted to be read and was not is marked", () => {
		const shares = segments.map((one) => ({ segment: one.id, read: 0, written: one.tokens, fresh: 0 }));
		const usage = { fresh: 50, write5m: 200, write1h: 0, read: 0, output: 5 };
		const predicted = { ...numbers, read: 200, write5m: 0 };
		const marked = pieces(fakeCall({ segments, shares, usage, predicted })).map((piece) => piece.missed);
		expect(marked).toEqual([true, true, false]);
	});

	test("the legend says what was real and what was predicted", () => {
		expect(legendWords("read", 9734, 9734)).toBe("read 9,734 (predicted 9,734)");
		expect(legendWords("read", null, 120)).toBe("read 120 predicted");
		expect(legendWords("fresh", 3, null)).toBe("fresh 3");
	});

	test("the source of a segment is named by its event", () => {
		const log = new FakeLog();
		log.add(1, { type: "user_message", text: "hi" });
		const from = (sources: number[]) =>
			provenance(fakeSegment("x", "dialogue", 7, { sources }), log.events, "");
		expect(from([1])).toBe("from the user’s message (event 1) · role user · 7 tokens (estimate) · h-x");
		expect(from([])).toContain("from the playbook");
	});
});

describe("what changed", () => {
	const [a, b, c, d] = ["a", "b", "c", "d"].map((id) => fakeSegment(id, "dialogue", 10));

	test("a window that only grew has no first difference", () => {
		if (!a || !b || !c) throw new Error();
		expect(changes([a, b], [a, b, c])).toEqual({
			kept: 2,
			keptTokens: 20,
			added: [c],
			removed: [],
			firstDifference: null,
		});
	});

	test("a rewrite names the segment at which the prefix broke", () => {
		if (!a || !b || !c || !d) throw new Error();
		expect(changes([a, b, c], [a, d, c])).toMatchObject({
			kept: 1,
			added: [d],
			removed: [b],
			firstDifference: d,
		});
	});
});

describe("money", () => {
	const usage = { fresh: 10, write5m: 0, write1h: 0, read: 90, output: 5 };

	test("an unknown price is never shown as nothing, and sums say so", () => {
		const known = fakeCall({ usage, cost: 0.004 });
		const unknown = fakeCall({ usage, cost: null });
		expect(costWords(unknown)).toBe("cost unknown");
		expect(sumWords(totals([known, unknown]))).toBe("at least $0.0040");
		expect(sumWords(totals([unknown]))).toBe("unknown");
		expect(sumWords(totals([known, known]))).toBe("$0.0080");
	});

	test("a rehearsal costs nothing and is called one", () => {
		const rehearsed = fakeCall({ provider: "rehearsal", usage, cost: null });
		expect(costWords(rehearsed)).toBe("no cost (rehearsal)");
		expect(sumWords(totals([rehearsed]))).toBe("no cost (rehearsal)");
		expect(totals([rehearsed])).toMatchObject({ input: 100, read: 90, output: 5 });
	});
});

describe("from the log", () => {
	const log = new FakeLog();
	log.add(0, { type: "session_started", playbook: "p", variables: { name: null } });
	log.add(0, { type: "stage_entered", stage: "greet", frame: "f1", visit: 1, prompt: "" });
	log.addAll(1, [
		{ type: "transition_evaluated", transition: "t1", verdict: false, seen: 1, reason: "" },
		{ type: "state_changed", set: { name: "Ada", tier: "gold" }, deleted: [], cause: "tool:x" },
		{ type: "llm_call_started", call: 1, lane: "m", stage: "greet", provider: "p", model: "m" },
		{ type: "state_changed", set: {}, deleted: ["tier"], cause: "user" },
		{ type: "llm_call_started", call: 2, lane: "m", stage: "greet", provider: "p", model: "m" },
	]);

	test("the state is the one at the moment the call was sent", () => {
		const first = stateAtCall(log.events, 1);
		expect([...first.variables]).toEqual([
			["name", "Ada"],
			["tier", "gold"],
		]);
		const second = stateAtCall(log.events, 2);
		expect([...second.variables.keys()]).toEqual(["name"]);
		expect([...second.changed]).toEqual(["tier"]);
		expect(second.frames).toEqual([{ id: "f1", stage: "greet" }]);
	});

	test("a called agent has variables of its own until it returns", () => {
		const called = new FakeLog();
		const agent = "Payer(agent 1000)";
		called.add(0, { type: "session_started", playbook: "p", variables: { name: "Ada" } });
		called.add(0, { type: "stage_entered", stage: "greet", frame: "f1", visit: 1, prompt: "" });
		called.addAll(1, [
			{
				type: "frame_pushed",
				frame: "f2",
				depth: 1,
				caller: "f1",
				stage: "ask",
				agent,
				variables: { fee: 2 },
			},
			{ type: "stage_entered", stage: "ask", frame: "f2", visit: 2, prompt: "" },
			{ type: "llm_call_started", call: 1, lane: "m", stage: "ask", provider: "p", model: "m" },
			{ type: "frame_popped", frame: "f2", stage: "ask", value: null },
			{ type: "llm_call_started", call: 2, lane: "m", stage: "greet", provider: "p", model: "m" },
		]);
		const during = stateAtCall(called.events, 1);
		expect([...during.variables]).toEqual([["fee", 2]]);
		expect(during.frames.map((frame) => frame.stage)).toEqual(["greet", "agent:Payer(agent 1000) · ask"]);
		expect([...stateAtCall(called.events, 2).variables]).toEqual([["name", "Ada"]]);
	});

	test("artifacts come, are loaded and unloaded, and go with the variable they are named after", () => {
		const told = new FakeLog();
		const saved = (name: string) =>
			({
				type: "artifact_saved",
				name,
				summary: `${name}!`,
				kind: "text",
				length: 900,
				hash: `h${name}`,
			}) as const;
		const sent = (call: number) =>
			({ type: "llm_call_started", call, lane: "m", stage: "a", provider: "p", model: "m" }) as const;
		const plan = { $artifact: "plan" };
		told.addAll(1, [
			saved("plan"),
			{ type: "state_changed", set: { plan }, deleted: [], cause: "user" },
			saved("a_1"),
			{ type: "artifact_loaded", name: "a_1", frame: "f1", offset: 0, length: null },
			sent(1),
			{ type: "artifact_unloaded", name: "a_1", frame: "f1" },
			{ type: "state_changed", set: { plan: "short" }, deleted: [], cause: "user" },
			sent(2),
		]);
		const first = stateAtCall(told.events, 1).artifacts;
		expect([...first.values()].map(({ name, loadedIn }) => [name, loadedIn])).toEqual([
			["plan", null],
			["a_1", "f1"],
		]);
		expect(first.get("plan")).toMatchObject({ kind: "text", length: 900, hash: "hplan" });
		const second = stateAtCall(told.events, 2).artifacts;
		expect([...second.values()].map(({ name, loadedIn }) => [name, loadedIn])).toEqual([["a_1", null]]);
	});

	test("an agent has artifacts of its own and brings those that its value refers to", () => {
		const told = new FakeLog();
		const saved = (name: string) =>
			({ type: "artifact_saved", name, summary: "s", kind: "text", length: 900, hash: name }) as const;
		const sent = (call: number) =>
			({ type: "llm_call_started", call, lane: "m", stage: "a", provider: "p", model: "m" }) as const;
		told.addAll(1, [
			saved("a_1"),
			saved("a_2"),
			{ type: "transition_triggered", from_stage: "a", mode: "call", data: { doc: { $artifact: "a_1" } } },
			{ type: "frame_pushed", frame: "f2", depth: 1, caller: "f1", stage: "b", agent: "A", variables: {} },
			sent(1),
			saved("a_3"),
			saved("a_4"),
			{ type: "frame_popped", frame: "f2", stage: "b", value: { found: { $artifact: "a_3" } } },
			sent(2),
		]);
		const names = (call: number) => [...stateAtCall(told.events, call).artifacts.keys()].toSorted();
		expect(names(1)).toEqual(["a_1"]);
		expect(names(2)).toEqual(["a_1", "a_2", "a_3"]);
	});

	test("rules are those of the turn, with what they saw in words", () => {
		const rules = rulesOfTurn(log.events, 1);
		expect(rules).toHaveLength(1);
		expect(rules.map(seenWords)).toEqual(["saw 1"]);
		expect(rulesOfTurn(log.events, 2)).toEqual([]);
	});
});
