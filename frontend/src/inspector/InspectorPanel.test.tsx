import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { FakeLog, fakeCall, fakeSegment } from "../api/fakes";
import type { CallView } from "../api/frames";
import { NO_SESSION } from "../api/liveState";
import { reduce } from "../api/reduce";
import { createLiveSession } from "../api/session";
import type { Playbook } from "../playbook/types";
import { InspectorPanel } from "./InspectorPanel";

const PLAYBOOK: Playbook = {
	id: "p",
	name: "Desk",
	initialStage: "greet",
	stages: [{ id: "greet", name: "Greeting", systemPrompt: "Hi" }],
	transitions: [
		{ id: "t1", from: "greet", condition: { type: "max_turns", count: 5 }, action: { targetStage: "greet" } },
	],
};

const base = fakeSegment("base", "base", 2010, { label: "global prompt" });
const stage = fakeSegment("stage", "stage", 810, { start: 2010, stage: "greet" });
const reply = fakeSegment("said", "dialogue", 40, { start: 2820, sources: [1] });
const usage = { fresh: 40, write5m: 810, write1h: 0, read: 2010, output: 31 };
const predicted = { fresh: 40, write5m: 810, write1h: 0, read: 2010 };
const shares = [
	{ segment: "base", read: 2010, written: 0, fresh: 0 },
	{ segment: "stage", read: 0, written: 810, fresh: 0 },
	{ segment: "said", read: 0, written: 0, fresh: 40 },
];

const FIRST = fakeCall({ call: 1, segments: [base], usage: { ...usage, read: 0, write5m: 2010, fresh: 0 } });
const SECOND = fakeCall({
	call: 2,
	turn: 2,
	segments: [base, stage, reply],
	shares,
	usage,
	predicted,
	added: 2,
	cost: 0.0041,
	costWithoutCaching: 0.0237,
	previousCall: 1,
	cachePoints: [{ segment: "base", ttl: "1h", number: 1, reason: "base" }],
});

function show(calls: readonly CallView[], shown: number | null = null, before?: (log: FakeLog) => void) {
	const log = new FakeLog();
	before?.(log);
	log.add(2, { type: "user_message", text: "hi", clientId: "c", injected: false });
	log.add(2, {
		type: "transition_evaluated",
		transition: "t1",
		verdict: false,
		seen: 1,
		reason: "saw 1 of 5",
	});
	const live = createLiveSession();
	const filled = calls.reduce((state, call) => reduce(state, { type: "call", call }), NO_SESSION);
	live.setState({ ...log.events.reduce(reduce, filled), sessionId: "s1" });
	const onCallSelected = vi.fn();
	const noop = () => {};
	render(
		<MantineProvider env="test">
			<InspectorPanel
				live={live}
				sessionId="s1"
				call={shown}
				document={PLAYBOOK}
				maximised={false}
				onCallSelected={onCallSelected}
				onStageSelected={noop}
				onTransitionSelected={noop}
				onMaximise={noop}
				onClose={noop}
			/>
		</MantineProvider>,
	);
	return { live, onCallSelected };
}

const list = () => screen.getByRole("listbox", { name: "Segments" });
const options = () => within(list()).getAllByRole("option");
const MONEY = { paid: 0.004, uncached: 0.02, systemPoint: 0.015, tailPoint: 0.005, bound: 0.0038 };
const EFFICIENCY = { calls: 2, tokens: MONEY, dollars: MONEY, eta: 0.95 };

const chosen = () => options().findIndex((option) => option.getAttribute("aria-selected") === "true");

beforeEach(() => {
	vi.stubGlobal("fetch", async (path: string) => {
		if (path.includes("/costs")) return new Response(JSON.stringify({ efficiency: EFFICIENCY }));
		const hash = decodeURIComponent(path.split("/").at(-1) ?? "");
		return new Response(JSON.stringify({ hash, text: `text of ${hash}` }));
	});
});

test("an empty inspector says what comes there and what to do first", () => {
	show([]);
	expect(screen.getByText(/Open the test chat with Talk/)).toBeTruthy();
});

test("the latest call is shown with what happened to each segment in words", () => {
	show([FIRST, SECOND]);
	expect(screen.getByRole("heading", { name: "Call 2" })).toBeTruthy();
	expect(options().map((option) => option.textContent)).toEqual([
		"baseglobal prompt2,010read",
		"stageGreeting810written",
		"dialogue40fresh",
	]);
	expect(screen.getByText("read 2,010 (predicted 2,010)")).toBeTruthy();
	expect(screen.getByText("1.4 % of the 200k window · $0.0041 · without caching $0.024")).toBeTruthy();
	expect(screen.queryByText("simulated")).toBeNull();
});

test("a rehearsal's numbers are called simulated", () => {
	show([{ ...SECOND, provider: "rehearsal", model: "rehearsal", cost: null }]);
	expect(screen.getByText("simulated")).toBeTruthy();
	expect(screen.getByText(/no cost \(rehearsal\)/)).toBeTruthy();
});

test("it is said over which connection a model was asked, and what it does not support", () => {
	show([
		{ ...SECOND, model: "qwen", provider: "openai-chat", connection: "local", leftOut: ["temperature"] },
	]);
	expect(screen.getByText(/qwen over local/)).toBeTruthy();
	expect(screen.getByText(/temperature not supported by this model/)).toBeTruthy();
});

test("calls that a small model wrote as text are named, and an end that is none is said", () => {
	show([{ ...SECOND, recovered: ["find_order"], stop: "max_tokens" }]);
	expect(screen.getByText(/find_order recovered from text/)).toBeTruthy();
	expect(screen.getByText(/cut off at the output limit/)).toBeTruthy();
});

test("arrow keys walk the segments and Enter goes into the text", async () => {
	show([FIRST, SECOND]);
	expect(chosen()).toBe(1);
	fireEvent.keyDown(list(), { key: "ArrowUp" });
	expect(chosen()).toBe(0);
	expect(await screen.findByText("text of h-base")).toBeTruthy();
	fireEvent.keyDown(list(), { key: "End" });
	expect(chosen()).toBe(2);
	expect(screen.getByText(/from the user’s message \(event 1\)/)).toBeTruthy();
	fireEvent.keyDown(list(), { key: "Enter" });
	expect(document.activeElement?.getAttribute("aria-label")).toBe("Text of dialogue");
});

test("brackets go to the neighbouring calls and d shows the difference", async () => {
	const { onCallSelected } = show([FIRST, SECOND]);
	fireEvent.keyDown(list(), { key: "[" });
	expect(onCallSelected).toHaveBeenCalledWith(1);
	fireEvent.keyDown(list(), { key: "]" });
	expect(onCallSelected).toHaveBeenCalledTimes(1);
	fireEvent.keyDown(list(), { key: "d" });
	expect(screen.getByRole("tab", { name: "Changes" }).getAttribute("aria-selected")).toBe("true");
	expect(screen.getByText(/1 segment \(2,010 tokens\) at the start are the same/)).toBeTruthy();
	expect(screen.getByText("Nothing of the window before was changed; only its end grew.")).toBeTruthy();
});

test("brackets work from anywhere on the page but from the fields one types in", () => {
	const { onCallSelected } = show([FIRST, SECOND]);
	const field = document.body.appendChild(document.createElement("textarea"));
	fireEvent.keyDown(field, { key: "[" });
	expect(onCallSelected).not.toHaveBeenCalled();
	fireEvent.keyDown(document.body, { key: "[", ctrlKey: true });
	expect(onCallSelected).not.toHaveBeenCalled();
	fireEvent.keyDown(document.body, { key: "[" });
	expect(onCallSelected).toHaveBeenCalledWith(1);
	field.remove();
});

test("a focus that goes with its call stays in the inspector", async () => {
	const { onCallSelected } = show([FIRST, SECOND]);
	const passing = list().appendChild(document.createElement("button"));
	passing.focus();
	onCallSelected.mockImplementation(() => passing.remove());
	fireEvent.keyDown(passing, { key: "[" });
	await vi.waitFor(() => expect(document.activeElement?.getAttribute("aria-label")).toBe("Inspector panel"));
});

test("why it moved on names each rule with what it saw", () => {
	show([FIRST, SECOND]);
	const why = screen.getByRole("region", { name: "Why it moved on" });
	expect(within(why).getByText("→ Greeting · after 5 turns")).toBeTruthy();
	expect(within(why).getByText("saw 1 of 5")).toBeTruthy();
	expect(within(why).getByRole("img", { name: "did not hold" })).toBeTruthy();
	expect(screen.getByRole("tab", { name: "Rules 1" })).toBeTruthy();
});

test("the cost tab adds up the session", () => {
	show([FIRST, SECOND]);
	fireEvent.click(screen.getByRole("tab", { name: "Cost" }));
	expect(screen.getByText("at least $0.0041")).toBeTruthy();
});

test("the cost tab says what other cache points would have cost, and how little was possible", async () => {
	show([FIRST, SECOND]);
	fireEvent.click(screen.getByRole("tab", { name: "Cost" }));
	const use = await screen.findByRole("region", { name: "How well the cache was used" });
	expect(within(use).getByRole("row", { name: "paid $0.0040" })).toBeTruthy();
	expect(within(use).getByRole("row", { name: "without caching $0.020" })).toBeTruthy();
	expect(within(use).getByText(/^95 % of what was paid could not have been saved/)).toBeTruthy();
});

test("the state tab lists artifacts with kind, size and place, and shows a text that is asked for", async () => {
	show([FIRST, SECOND], null, (log) => {
		log.add(1, {
			type: "artifact_saved",
			name: "a_12345678",
			summary: "find({}): list, 12,345 characters, [{",
			kind: "list",
			length: 12_345,
			hash: "content",
		});
		log.add(1, { type: "artifact_loaded", name: "a_12345678", frame: "f1", offset: 0, length: null });
	});
	fireEvent.click(screen.getByRole("tab", { name: "State" }));
	expect(screen.getByText("list, 12,345 characters · loaded in f1")).toBeTruthy();
	expect(screen.getByText(/^find\(\{\}\): list/)).toBeTruthy();
	fireEvent.click(screen.getByRole("button", { name: "a_12345678" }));
	expect(await screen.findByText("text of content")).toBeTruthy();
});

test("a call that is running is followed until it ends", () => {
	const { live } = show([{ ...SECOND, status: "running", usage: null, predictedOnly: true }]);
	expect(screen.getByText("waiting for the first word")).toBeTruthy();
	expect(screen.getByText("read 2,010 predicted")).toBeTruthy();
	act(() => live.setState(reduce(live.getState(), { type: "call", call: SECOND })));
	expect(screen.queryByText("waiting for the first word")).toBeNull();
	expect(screen.getByText("read 2,010 (predicted 2,010)")).toBeTruthy();
});

test("markup in texts, labels and tool names stays text", async () => {
	const evil = "<img src=x onerror=document.title='bad'>";
	show([fakeCall({ call: 1, segments: [fakeSegment(evil, "tool_result", 5, { label: evil })] })]);
	expect(await screen.findByText(`text of h-${evil}`)).toBeTruthy();
	expect(document.querySelector("img[src]")).toBeNull();
});
