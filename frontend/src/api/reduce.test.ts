import { describe, expect, test } from "vitest";
import { callCompleted, callStarted, FakeLog, fakeCall, fakeSegment, plainTurn } from "./fakes";
import type { ServerFrame, SessionEvent } from "./frames";
import { type LiveState, NO_SESSION } from "./liveState";
import { joinDelta, reduce, withCalls } from "./reduce";

const fold = (frames: readonly ServerFrame[], from: LiveState = NO_SESSION) =>
	frames.reduce<LiveState>(reduce, from);

/** What a person reads: bubbles in order. */
function read(live: LiveState): string[] {
	return live.timeline.flatMap((item) => (item.kind === "user" || item.kind === "reply" ? [item.text] : []));
}

const delta = (turn: number, call: number, offset: number, text: string): ServerFrame => ({
	type: "text_delta",
	turn,
	call,
	offset,
	text,
});

/** A small deterministic source of chance (mulberry32). */
function chance(seed: number): () => number {
	let a = seed;
	return () => {
		a = (a + 0x6d2b79f5) | 0;
		let t = Math.imul(a ^ (a >>> 15), 1 | a);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

function threeTurns(): FakeLog {
	const log = new FakeLog();
	log.add(0, { type: "session_started", playbook: "p" });
	log.add(0, { type: "stage_entered", stage: "greet", frame: "f1", visit: 1, prompt: "" });
	log.addAll(1, plainTurn(1, "a", "A"));
	log.addAll(2, plainTurn(2, "b", "B"));
	log.addAll(3, plainTurn(3, "c", "C"));
	return log;
}

describe("events", () => {
	test("an event that was seen before changes nothing", () => {
		const { events } = threeTurns();
		const live = fold(events);
		for (const event of events) expect(reduce(live, event)).toBe(live);
	});

	test("an event too far ahead is not applied and asks for what is missing", () => {
		const { events } = threeTurns();
		const before = fold(events.slice(0, 4));
		const after = reduce(before, events[6] as SessionEvent);
		expect(after.gap).toBe(true);
		expect(after.lastSeq).toBe(4);
		expect(after.timeline).toBe(before.timeline);
	});

	test("any order of duplicates, losses and replays ends in the same conversation", () => {
		const { events } = threeTurns();
		const expected = fold(events);
		for (let seed = 1; seed <= 200; seed++) {
			const random = chance(seed);
			let live = NO_SESSION;
			for (let step = 0; step < 60; step++) {
				live = reduce(live, events[Math.floor(random() * events.length)] as SessionEvent);
			}
			live = fold(events.slice(live.lastSeq), live);
			expect({ ...live, gap: false }).toEqual(expected);
		}
	});

	test("counts visits under ids that are special in JavaScript", () => {
		const log = new FakeLog();
		for (const [index, stage] of ["__proto__", "constructor", "__proto__"].entries()) {
			log.add(0, { type: "stage_entered", stage, frame: `f${index}`, visit: index + 1, prompt: "" });
			log.add(0, { type: "stage_exited", stage, frame: `f${index}` });
		}
		const { visitedStages } = fold(log.events);
		expect(Object.entries(visitedStages)).toEqual([
			["__proto__", 2],
			["constructor", 1],
		]);
		expect(({} as Record<string, unknown>)["2"]).toBeUndefined();
	});
});

describe("streamed text", () => {
	const opening = () => {
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "user_message", text: "hi", clientId: "c" },
			{ type: "turn_started", stage: "greet", cause: "message" },
			{ type: "phase2_start", stage: "greet" },
			callStarted(1),
		]);
		return log;
	};

	test("overlapping pieces never double a word", () => {
		expect(joinDelta("one two", 4, "two three")).toBe("one two three");
		expect(joinDelta("one two", 0, "one")).toBe("one two");
		expect(joinDelta("one", 5, "x")).toBeNull();
	});

	test("offsets count characters as the server does, also beyond the basic plane", () => {
		expect(joinDelta("😀a", 2, "b")).toBe("😀ab");
		expect(joinDelta("😀😀", 1, "😀é")).toBe("😀😀é");
	});

	test("a piece is shown at once, and the completed call gives the exact text", () => {
		const log = opening();
		let live = fold([...log.events, delta(1, 1, 0, "Hel"), delta(1, 1, 3, "lo")]);
		expect(read(live)).toEqual(["hi", "Hello"]);
		expect(live.activity).toMatchObject({ doing: "streaming", phase: 2, call: 1 });
		live = fold([log.add(1, callCompleted(1, "Hello!")), delta(1, 1, 5, "!!")], live);
		expect(read(live)).toEqual(["hi", "Hello!"]);
	});

	test("a missing piece asks again, and the running text of the answer fills it", () => {
		const log = opening();
		let live = fold([...log.events, delta(1, 1, 0, "one "), delta(1, 1, 8, "three ")]);
		expect(live.gap).toBe(true);
		expect(read(live)).toEqual(["hi", "one "]);
		const running = { turn: 1, call: 1, text: "one two three " };
		live = reduce(live, { type: "ready", lastSeq: 4, status: "running", running });
		expect(live.gap).toBe(false);
		live = fold([delta(1, 1, 8, "three "), delta(1, 1, 14, "four")], live);
		expect(read(live)).toEqual(["hi", "one two three four"]);
	});

	/** Sends words one by one, losing and doubling some by chance; a gap is answered with all that was sent. */
	function streamBadly(from: LiveState, words: readonly string[], random: () => number): LiveState {
		let live = from;
		let sent = "";
		for (const word of words) {
			const frame = delta(1, 1, [...sent].length, word);
			sent += word;
			const copies = Math.floor(random() * 3);
			live = fold(Array<ServerFrame>(copies).fill(frame), live);
			const running = { turn: 1, call: 1, text: sent };
			if (live.gap) live = reduce(live, { type: "ready", lastSeq: 4, status: "running", running });
		}
		return live;
	}

	test("whatever is lost on the way, every word is there once in the end", () => {
		const words = Array.from({ length: 40 }, (_, index) => `w${index}😀 `);
		const whole = words.join("");
		for (let seed = 1; seed <= 100; seed++) {
			const log = opening();
			const streamed = streamBadly(fold(log.events), words, chance(seed));
			expect(whole.startsWith(read(streamed)[1] ?? "")).toBe(true);
			const end = [callCompleted(1, whole), { type: "turn_complete", stage: "greet", text: whole } as const];
			const live = fold(log.addAll(1, end), streamed);
			expect(read(live)).toEqual(["hi", whole]);
			expect(live.activity).toBeNull();
		}
	});

	test("a turn stopped before the first word leaves the user's text and no empty bubble", () => {
		const log = opening();
		log.add(1, { type: "turn_interrupted", stage: "greet", shownText: "", reason: "stop" });
		const live = fold(log.events);
		expect(read(live)).toEqual(["hi"]);
		expect(live.timeline.at(-1)).toMatchObject({ kind: "notice", what: "stopped", text: "Stopped." });
	});

	test("a turn that broke off with its process can be taken up again only if nothing of it was shown", () => {
		const resumable = (shownText: string, reason: string) => {
			const log = opening();
			log.add(1, { type: "turn_interrupted", stage: "greet", shownText, reason });
			const last = fold(log.events).timeline.at(-1);
			return last?.kind === "notice" && last.resumable;
		};
		expect(resumable("", "process_died")).toBe(true);
		expect(resumable("Hel", "process_died")).toBe(false);
		expect(resumable("", "stop")).toBe(false);
	});

	test("a held text appears where phase 2 begins, once", () => {
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "user_message", text: "hi", clientId: "c" },
			{ type: "turn_started", stage: "greet" },
			{ type: "phase1_start", stage: "greet" },
			callStarted(1, 1),
			callCompleted(1, "Hello"),
			{ type: "phase1_complete", stage: "greet" },
			{ type: "phase2_start", stage: "greet" },
		]);
		let live = fold([...log.events, delta(1, 1, 0, "Hello")]);
		live = fold(
			log.addAll(1, [
				{ type: "phase2_complete", stage: "greet", text: "Hello" },
				{ type: "turn_complete", stage: "greet", text: "Hello" },
			]),
			live,
		);
		expect(read(live)).toEqual(["hi", "Hello"]);
		expect(live.timeline.at(-1)).toMatchObject({ kind: "reply", call: 1, status: "complete" });
	});

	test("a stopped reply keeps what was shown, also after a reload", () => {
		const log = opening();
		const stopped = {
			type: "turn_interrupted",
			stage: "greet",
			shownText: "Our bikes are ",
			reason: "stop",
		} as const;
		log.add(1, stopped);
		const reloaded = fold(log.events);
		expect(reloaded.timeline.find((item) => item.kind === "reply")).toMatchObject({
			text: "Our bikes are ",
			status: "interrupted",
		});
	});

	test("withdrawn text is taken away and the second try starts clean", () => {
		const log = opening();
		let live = fold([...log.events, delta(1, 1, 0, "Hel")]);
		live = reduce(live, log.add(1, { type: "text_withdrawn", call: 1, text: "Hel" }));
		expect(read(live)).toEqual(["hi"]);
		live = reduce(live, delta(1, 1, 0, "Hello"));
		expect(read(live)).toEqual(["hi", "Hello"]);
	});

	test("the text of a silent tool round is never shown", () => {
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "user_message", text: "hi", clientId: "c" },
			{ type: "turn_started", stage: "greet" },
			{ type: "phase1_start", stage: "greet" },
			callStarted(1, 1),
			callCompleted(1, "Let me look."),
		]);
		expect(read(fold(log.events))).toEqual(["hi"]);
	});
});

describe("the conversation", () => {
	test("a tool card goes from running to its result, and a turn that ends leaves none running", () => {
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "turn_started", stage: "greet" },
			{ type: "tool_call_start", callId: "t1", name: "lookup", arguments: { id: 1 } },
			{ type: "tool_call_start", callId: "t2", name: "slow", arguments: {} },
			{
				type: "tool_call_complete",
				callId: "t1",
				toolName: "lookup",
				success: true,
				result: 7,
				durationMs: 12,
			},
		]);
		const running = fold(log.events);
		expect(running.activity).toMatchObject({ doing: "tools", tools: ["t2"] });
		const over = reduce(running, log.add(1, { type: "turn_interrupted", stage: "greet", reason: "stop" }));
		const tools = over.timeline.filter((item) => item.kind === "tool");
		expect(tools.map((item) => item.status)).toEqual(["ok", "abandoned"]);
	});

	test("a transition and the stage it enters are one line; the first stage is a line of its own", () => {
		const log = new FakeLog();
		log.add(0, { type: "stage_entered", stage: "greet", frame: "f1", visit: 1, prompt: "" });
		log.addAll(1, [
			{ type: "turn_started", stage: "greet" },
			{
				type: "transition_triggered",
				transition: "t1",
				fromStage: "greet",
				toStage: "triage",
				reason: "said so",
			},
			{ type: "stage_exited", stage: "greet", frame: "f1" },
			{ type: "stage_entered", stage: "triage", frame: "f2", visit: 2, prompt: "" },
		]);
		const live = fold(log.events);
		expect(live.timeline.map((item) => item.kind)).toEqual(["stage", "move"]);
		expect(live).toMatchObject({
			activeStageId: "triage",
			lastTransitionId: "t1",
			visitedTransitions: { t1: 1 },
		});
	});

	test("a called stage returns to its caller", () => {
		const log = new FakeLog();
		log.add(0, { type: "stage_entered", stage: "triage", frame: "f1", visit: 1, prompt: "" });
		log.addAll(1, [
			{ type: "turn_started", stage: "triage" },
			{ type: "transition_triggered", transition: "c", fromStage: "triage", toStage: "orders", mode: "call" },
			{ type: "frame_pushed", frame: "f2", depth: 1, caller: "f1", stage: "orders" },
			{ type: "stage_entered", stage: "orders", frame: "f2", visit: 2, prompt: "" },
		]);
		const called = fold(log.events);
		expect(called.activeStageId).toBe("orders");
		const back = fold(
			log.addAll(1, [
				{ type: "transition_triggered", transition: "r", fromStage: "orders", toStage: null, mode: "return" },
				{ type: "frame_popped", frame: "f2", stage: "orders", value: 1 },
			]),
			called,
		);
		expect(back.activeStageId).toBe("triage");
		expect(back.timeline.at(-1)).toMatchObject({ kind: "move", mode: "return", to: "triage", arrived: true });
	});

	test("a called agent stands in the chat by its name, and the graph stays at its caller", () => {
		const log = new FakeLog();
		log.add(0, { type: "stage_entered", stage: "ask", frame: "f1", visit: 1, prompt: "" });
		const agent = "Payer(agent 1000)";
		log.addAll(1, [
			{ type: "turn_started", stage: "ask" },
			{
				type: "transition_triggered",
				transition: "c",
				fromStage: "ask",
				toStage: "agent:Payer",
				mode: "call",
			},
			{ type: "frame_pushed", frame: "f2", depth: 1, caller: "f1", stage: "ask", agent, variables: {} },
			{ type: "stage_entered", stage: "ask", frame: "f2", visit: 2, prompt: "" },
			{ type: "transition_triggered", transition: "c", fromStage: "ask", toStage: "b", mode: "goto" },
			{ type: "stage_exited", stage: "ask", frame: "f2" },
			{ type: "stage_entered", stage: "b", frame: "f2", visit: 3, prompt: "" },
		]);
		const called = fold(log.events);
		expect(called.activeStageId).toBe("ask");
		expect(called.visitedStages).toEqual({ ask: 1 });
		expect(called.visitedTransitions).toEqual({ c: 1 });
		expect(called.timeline.filter((item) => item.kind === "move")).toMatchObject([
			{ from: "ask", to: "agent:Payer(agent 1000) · ask", arrived: true },
			{ from: "agent:Payer(agent 1000) · ask", to: "agent:Payer(agent 1000) · b", transition: null },
		]);
		const back = fold([log.add(1, { type: "frame_popped", frame: "f2", stage: "b", value: 1 })], called);
		expect(back.activeStageId).toBe("ask");
		expect(back.timeline.at(-1)).toMatchObject({ from: "agent:Payer(agent 1000) · b", to: "ask" });
	});

	test("a rule that did not hold says what was missing until the next turn begins", () => {
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "turn_started", stage: "greet" },
			{ type: "transition_evaluated", transition: "t1", verdict: false, reason: "1 more turn", seen: 4 },
		]);
		const live = fold(log.events);
		expect(live.nearlyFired).toEqual([{ transitionId: "t1", missing: "1 more turn" }]);
		expect(reduce(live, log.add(2, { type: "turn_started", stage: "greet" })).nearlyFired).toEqual([]);
	});

	test("a failed turn says why and offers the retry the server allows", () => {
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "turn_started", stage: "greet" },
			{
				type: "turn_failed",
				stage: "greet",
				code: "overloaded",
				message: "The model is overloaded.",
				retryable: true,
			},
		]);
		const live = fold(log.events);
		expect(live.activity).toBeNull();
		expect(live.timeline.at(-1)).toMatchObject({
			kind: "failure",
			message: "The model is overloaded.",
			retryable: true,
		});
	});

	test("a full view of a call keeps its segments when the short one comes later", () => {
		const segments = [fakeSegment("a", "base", 3)];
		let live = reduce(NO_SESSION, { type: "call", call: fakeCall({ segments, status: "running" }) });
		const { segments: _window, shares: _shares, ...short } = fakeCall({ status: "complete" });
		live = withCalls(live, [short]);
		expect(live.calls.get(1)).toMatchObject({ status: "complete", segments });
	});

	test("a refused message is marked and stays", () => {
		const start = { ...NO_SESSION, outbox: [{ clientId: "c1", text: "x", refused: null }] };
		const live = reduce(start, {
			type: "error",
			code: "complete",
			message: "The conversation is over.",
			retryable: false,
			clientId: "c1",
		});
		expect(live.outbox).toEqual([{ clientId: "c1", text: "x", refused: "The conversation is over." }]);
	});
});
